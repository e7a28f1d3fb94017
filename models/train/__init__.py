"""How the embedding model in the wheel is made: fetch, pairs, vocabulary, train, export."""
