"""The formats in which language models are spoken to, one file each, beneath one loop."""
