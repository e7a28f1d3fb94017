"""The parts of the graph model that no command runs: insertion, cuts and invariants.

They state what a graph is and how it may change, in the simplest form. The conformance cases of the
model and the property tests judge `graph`, `search` and `canonical` by them. Nothing outside this
folder imports it except tests.
"""
