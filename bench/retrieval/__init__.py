"""Measure retrieval quality: labelled sets, runners, metrics, other systems to compare with.

labels.py     reads a set of questions
metrics.py    NDCG, MRR, recall by rank and by tokens: pure
summary.py    means with bootstrap intervals, by language and category; tables
fetch.py      repositories by package name and version, digests verified
systems.py    runs each system in a process of its own; workers/ has their code
gather.py     generates questions from doc comments and commits
"""
