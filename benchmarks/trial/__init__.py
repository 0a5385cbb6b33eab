"""A trial: one plays the person, another answers as the model from its prompts alone, over files and a moved clock."""
