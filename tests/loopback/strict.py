"""Refuse every Bot API request with a misspelt, missing or mistyped field, also in nested objects."""

from __future__ import annotations

import aiogram.methods
from pydantic import ValidationError


def validate(method: str, params: dict) -> None:
    """Raise ValueError when the request is not what the Bot API documents; unknown methods pass."""
    model = getattr(aiogram.methods, method[:1].upper() + method[1:], None)
    if model is None:
        return
    plain = {name: value for name, value in params.items() if not isinstance(value, tuple)}
    uploads = {
        name: "upload" for name, value in params.items() if isinstance(value, tuple) and name in model.model_fields
    }
    try:
        model.model_validate(plain | uploads, extra="forbid")
    except ValidationError as exc:
        raise ValueError(exc.errors(include_url=False)) from exc
