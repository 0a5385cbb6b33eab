"""The steps of a turn: its question with files and notices, its answer, the one transaction that ends it."""
