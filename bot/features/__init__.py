"""The features for people: each module offers commands and the actions of its buttons."""
