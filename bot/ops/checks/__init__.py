"""What `doctor` finds: pure judgements by subject, the facts for them, and the tries of `doctor --live`."""
