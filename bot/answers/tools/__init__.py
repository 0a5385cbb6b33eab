"""The model's tools for notes: seven, the same for every way to a model."""
