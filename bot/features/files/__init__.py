"""What a person can do with the files that they sent."""
