"""The parts of the model that no command runs.

Insertion, cuts and invariants state what a graph is and how it may change, in the simplest form;
the conformance cases and property tests judge `graph`, `search` and `canonical` by them. Matching
statistics and the dedup parse are linear passes over a segment, by which tests judge its queries.
"""
