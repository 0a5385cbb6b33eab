"""Commands of a person about tools: answer questions about calls, see and switch them."""
