"""PostgreSQL on a server, for several processes at once; its driver is an extra."""
