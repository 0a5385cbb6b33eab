# What type checkers see of the public names; a test compares it with `__init__.py`.

from memory.context.budget import Budget
from memory.context.compaction.compactor import SummaryWriter
from memory.context.occasion import Occasion, Prepared, Reserved
from memory.errors import (
    CheckpointError,
    Conflict,
    ContinuityError,
    Locked,
    SchemaMismatch,
    StorageError,
    StorageUnavailable,
    UnknownSession,
    UnsafeSettings,
    Unstorable,
)
from memory.ledger.types import (
    Actor,
    Add,
    Applied,
    Change,
    End,
    Ledger,
    Merge,
    Move,
    Note,
    NoteChange,
    Refusal,
    Reopen,
)
from memory.ledger.views import Scope
from memory.opening import ConversationMemory
from memory.packets import ConversationContextPacket, RetrievedItem, TierReceipt
from memory.pending import PendingTurn
from memory.ports import Clock, Ids, Statement, TokenCounter
from memory.privacy.forget import Forgotten, Proof
from memory.privacy.plan import ForgetCounts, ForgetRequest
from memory.search.embeddings import Embedder
from memory.sessions.exchange import Deed, ModelTokens
from memory.start import OpeningReport
from memory.storage.extension import Erasure, Extension
from memory.types import ConversationTurn, OpenLoop, SessionState, ToolCall

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
