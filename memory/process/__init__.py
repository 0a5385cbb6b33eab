"""The process and its machine: fault points, mapped tables, shielded work, locks by key."""
