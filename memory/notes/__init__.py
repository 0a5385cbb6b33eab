"""Session notes: what a conversation was about, in words that a person would use. Pure.

A reader (`rules.read_by_rules`, or a model whose items were checked) turns what is new in a session into
`SessionNotes`; `view` merges the notes of a conversation's sessions into what is alive now; the rest words it.
"""
