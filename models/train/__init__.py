"""Train the embedding model in the wheel: fetch, pairs, vocabulary, train, export."""
