"""Files that people send: fetched from Telegram, kept by their digest, read in a child, given to the model."""
