"""Which process works on which chat: all chats on a file, leases on a server."""
