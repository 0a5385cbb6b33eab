"""Groups from outside: who is in one and leads it, and what a member may ask of it in private."""
