"""An answer is made: by a language model with tools, or without one."""
