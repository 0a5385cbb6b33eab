"""What a person does about tools: answer questions about calls, see and switch them."""
