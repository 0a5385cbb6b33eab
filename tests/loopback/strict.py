"""Refuse every Bot API request with a misspelt, missing or mistyped field, also in nested objects."""

from __future__ import annotations

from functools import cache
from unittest.mock import patch

from pydantic import BaseModel, ValidationError

with patch.object(BaseModel, "model_rebuild"):  # else it builds the validators of 1,400 types, for seconds
    import aiogram.methods
    import aiogram.types

TYPES = vars(aiogram.types)


@cache
def method_of(name: str) -> type[BaseModel] | None:
    """Return what is documented of a method, ready to validate; None when nothing is."""
    model = getattr(aiogram.methods, name[:1].upper() + name[1:], None)
    if model is not None:
        model.model_rebuild(force=True, _types_namespace=TYPES)
    return model


def validate(method: str, params: dict) -> None:
    """Raise ValueError when the request is not what the Bot API documents; unknown methods pass."""
    model = method_of(method)
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
