"""Groups from outside: who is in one and leads it, and a member's questions about it in private."""
