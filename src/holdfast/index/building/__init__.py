"""Making generations: workers, builds and the runs that change an index."""
