"""One ledger of notes a conversation: everything that outlives the message it came from, and what was done to it."""
