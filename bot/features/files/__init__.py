"""Commands for the files that a person sent."""
