"""What a sentence is and means, in six languages; the words are data."""
