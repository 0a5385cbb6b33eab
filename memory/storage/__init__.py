"""Rows and files: the database, named queries, migrations, checkpoints."""
