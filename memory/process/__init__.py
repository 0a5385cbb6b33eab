"""The process and its machine: fault points, mapped tables, work that ends, turns that are taken."""
