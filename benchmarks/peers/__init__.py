"""The same traffic and the same kills for several assistants: what a person sees of each."""
