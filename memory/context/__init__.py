"""What the model is given about the past, and its budget."""
