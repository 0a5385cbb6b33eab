"""The web: pages that are read and searches that are made for a person; nothing there is changed."""
