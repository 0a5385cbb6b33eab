"""SQLite in a file: one writing thread with group commit, one read-only connection, a digest in each row."""
