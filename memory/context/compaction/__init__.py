"""Compaction: old turns are folded into the rolling summary, with a record that can undo it (004)."""
