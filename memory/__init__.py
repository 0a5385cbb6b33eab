"""Conversation continuity as a library: durable turns, checkpoints, hydration and bounded context packets.

`ConversationMemory.open(folder)` is the front door; the names in `__all__` stay compatible from version to version.
They are loaded when they are first asked for; `__init__.pyi` tells type checkers. Knows nothing of Telegram, model
providers or schedulers.
"""

from importlib import import_module

_HOMES = {
    "memory.opening": ("ConversationMemory",),
    "memory.start": ("OpeningReport",),
    "memory.pending": ("PendingTurn",),
    "memory.sessions.exchange": ("Deed", "ModelTokens"),
    "memory.context.budget": ("Budget",),
    "memory.context.compaction.compactor": ("SummaryWriter",),
    "memory.context.occasion": ("Occasion", "Prepared", "Reserved"),
    "memory.privacy.forget": ("Forgotten", "Proof"),
    "memory.privacy.plan": ("ForgetCounts", "ForgetRequest"),
    "memory.ledger.types": (
        "Actor",
        "Add",
        "Applied",
        "Change",
        "End",
        "Ledger",
        "Merge",
        "Move",
        "Note",
        "NoteChange",
        "Refusal",
        "Reopen",
    ),
    "memory.ledger.views": ("Scope",),
    "memory.search.embeddings": ("Embedder",),
    "memory.storage.extension": ("Erasure", "Extension"),
    "memory.ports": ("Clock", "Ids", "Statement", "TokenCounter"),
    "memory.packets": ("ConversationContextPacket", "RetrievedItem", "TierReceipt"),
    "memory.types": ("ConversationTurn", "OpenLoop", "SessionState", "ToolCall"),
    "memory.errors": (
        "CheckpointError",
        "Conflict",
        "ContinuityError",
        "Locked",
        "SchemaMismatch",
        "StorageError",
        "StorageUnavailable",
        "UnknownSession",
        "UnsafeSettings",
        "Unstorable",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Actor",
    "Add",
    "Applied",
    "Budget",
    "Change",
    "CheckpointError",
    "Clock",
    "Conflict",
    "ContinuityError",
    "ConversationContextPacket",
    "ConversationMemory",
    "ConversationTurn",
    "Deed",
    "Embedder",
    "End",
    "Erasure",
    "Extension",
    "ForgetCounts",
    "ForgetRequest",
    "Forgotten",
    "Ids",
    "Ledger",
    "Locked",
    "Merge",
    "ModelTokens",
    "Move",
    "Note",
    "NoteChange",
    "Occasion",
    "OpenLoop",
    "OpeningReport",
    "PendingTurn",
    "Prepared",
    "Proof",
    "Refusal",
    "Reopen",
    "Reserved",
    "RetrievedItem",
    "SchemaMismatch",
    "Scope",
    "SessionState",
    "Statement",
    "StorageError",
    "StorageUnavailable",
    "SummaryWriter",
    "TierReceipt",
    "TokenCounter",
    "ToolCall",
    "UnknownSession",
    "UnsafeSettings",
    "Unstorable",
]


def __getattr__(name: str) -> object:
    """Load a public name from its module."""
    if name not in _HOME_OF:
        raise AttributeError(f"module 'memory' has no public name {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)
