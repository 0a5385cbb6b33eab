"""The keeper: reads behind the reply what was said, and changes the ledger by it."""
