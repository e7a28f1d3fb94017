"""Does a search find the right code: sets of labelled questions, runners, metrics, peers.

labels.py     a set of questions, read from several spellings of one JSON form
metrics.py    NDCG, MRR, recall by rank and by tokens: pure
summary.py    means with bootstrap intervals, by language and category; tables
fetch.py      repositories by package name and version, digests verified
systems.py    each system in a process of its own; workers/ holds what runs there
gather.py     questions made from doc comments and from commits
"""
