"""Conversation continuity as a library: durable turns, checkpoints, hydration and bounded context packets.

Knows nothing of Telegram, model providers or schedulers.
"""
