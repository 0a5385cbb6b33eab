"""One ledger of notes a conversation: everything that outlives its message, and all changes of that."""
