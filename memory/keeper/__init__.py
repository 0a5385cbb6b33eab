"""The keeper: reads new turns behind the reply, and changes the ledger by them."""
