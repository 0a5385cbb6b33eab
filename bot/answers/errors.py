"""The error of a request to a model: its kind for the meters, the sentence for the person, never a word of a prompt."""

from __future__ import annotations

from http import HTTPStatus

_PASSING = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS}
_REFUSALS = ("invalid", "authentication", "permission", "not_found", "billing", "image", "policy", "too_large")
"""Parts of the names that providers give to errors which would come again."""

_CUT = {"length", "max_tokens", "max_output_tokens", "max_messages", "model_context_window_exceeded"}
_WITHHELD = {"content_filter", "refusal"}


class ModelError(Exception):
    """A request to a model failed; its text never holds a word of the prompt."""

    def __init__(
        self, kind: str, why: str, detail: str = "", *, passing: bool = False, status_code: int | None = None
    ) -> None:
        super().__init__(detail or kind)
        self.kind = kind
        self.why = why
        """The name of the sentence that the person is told."""
        self.passing = passing
        """True for a fault that may be gone in a moment."""
        self.status_code = status_code

    @property
    def reason(self) -> str:
        """Its kind and status, e.g. `Status 401`: for logs and records, where the text may repeat the prompt."""
        return f"{self.kind} {self.status_code}" if self.status_code else self.kind


def broken(detail: str) -> ModelError:
    """Return the error of an answer that broke off."""
    return ModelError("BrokenOff", "why_broken", detail, passing=True)


def garbage(detail: str) -> ModelError:
    """Return the error of an answer that makes no sense."""
    return ModelError("Garbage", "why_garbage", detail)


def endless() -> ModelError:
    """Return the error of an answer that does not end."""
    return ModelError("TooLong", "why_too_long", "the answer does not end")


def cut_off() -> ModelError:
    """Return the error of an answer that its provider cut off at its longest."""
    return ModelError("CutOff", "why_too_long", "the answer was cut off at the length that the provider allows")


def declined() -> ModelError:
    """Return the error of an answer that a model, or a filter before it, would not give."""
    return ModelError("Declined", "why_declined", "the answer was withheld by the provider")


def unfinished(reason: object) -> ModelError | None:
    """Return the error of an answer that ended for this reason, None for one that is whole."""
    if reason in _CUT:
        return cut_off()
    return declined() if reason in _WITHHELD else None


def no_key(name: str, detail: str = "is not set") -> ModelError:
    """Return the error of a provider's key that is missing, or can be none."""
    return ModelError("NoKey", "why_refused", f"{name} {detail}")


def refusal(status: int) -> ModelError:
    """Return the error of an HTTP status that is no success."""
    busy = status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    why = "why_busy" if busy else "why_refused"
    passing = status in _PASSING or status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return ModelError("Status", why, passing=passing, status_code=status)


def within(name: object) -> ModelError:
    """Return the error that a server tells of in the midst of an answer, by the name that it gives it."""
    if isinstance(name, str) and any(part in name for part in _REFUSALS):
        return ModelError("Refused", "why_refused", "the request was refused within the answer")
    return ModelError("Error", "why_busy", "an error within the answer", passing=True)
