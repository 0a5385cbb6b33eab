"""The past as the model is given it, and its budget."""
