"""How the bot runs: its starts, its processes, what waits and what failed."""
