"""The continuity bootstrap (001): who this user is to me, who I am to them, and our matters under way.

Everything but `bootstrap.py` and `heartbeat.py`, which read and store, is pure: sessions and notes come in as frozen
values; relationship state, arcs, the internal packet and the preview come out.
"""
