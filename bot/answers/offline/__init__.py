"""The concierge without a language model: it answers from memory alone."""
