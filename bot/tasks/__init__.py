"""Tasks by the clock: notes that ring and whose text is work for the model.

A run is an update in the inbox, written down in the transaction in which its note rings. From there it is a message
like any other: claimed, answered as a turn, finished with it; after any crash it is taken up again and counted once.
"""
