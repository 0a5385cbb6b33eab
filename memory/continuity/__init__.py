"""The continuity bootstrap (001): who is this user to me, who am I to them, what are we in the middle of together.

Everything here is pure: sessions, open loops and memories come in as frozen values, relationship state, arcs, the
internal packet and the preview come out. `memory/continuity/bootstrap.py` reads and stores.
"""
