"""What a person can do: each module offers commands and the actions of its buttons."""
