"""What the model can do with notes: seven tools, the same for every way to a model."""
