"""Sharing of chats among processes: on a file one has all of them, on a server there are leases."""
