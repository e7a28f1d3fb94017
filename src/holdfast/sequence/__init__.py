"""The token-sequence hypergraph: does a run of tokens exist, where, how much of it, where else."""
