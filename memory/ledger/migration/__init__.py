"""The stores before the ledger, read once as its first notes."""
