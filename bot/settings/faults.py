"""Faults of settings, in a sentence for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from annotated_types import Ge, Gt, Le
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from bot.settings.shapes import shown


class SettingsError(Exception):
    """Settings that cannot be used; `faults` has a sentence for each wrong one, by its name."""

    def __init__(self, faults: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name} {fault}" for name, fault in faults.items()))
        self.faults = dict(faults)


def faults(exc: ValidationError, fields: Mapping[str, FieldInfo]) -> dict[str, str]:
    """Return a sentence for each wrong setting, by the name of its variable. A secret's value is never repeated."""
    found: dict[str, str] = {}
    for error in exc.errors():
        name = "_".join(map(str, error["loc"]))
        field = fields.get(name)
        found[name.upper() or "settings"] = _fault(field, error["type"], error["msg"], error["input"])
    return found


def _fault(field: FieldInfo | None, kind: str, message: str, value: object) -> str:
    if field is None or kind == "value_error":
        return message.removeprefix("Value error, ")
    if "Secret" in str(field.annotation):
        return "cannot be read as a text"
    if kind == "literal_error":
        return f"must be one of {', '.join(get_args(field.annotation))}, not {shown(value)}"
    if kind.startswith("bool"):
        return f"must be true or false, not {shown(value)}"
    if bounds := limits(field):
        what = "number" if "float" in str(field.annotation) else "whole number"
        return f"must be a {what}, {bounds}, not {shown(value)}"
    return f"cannot be {shown(value)}"


def limits(field: FieldInfo) -> str:
    """Return between which numbers a setting lies, in words; empty when it is no number."""
    words = []
    for limit in field.metadata:
        if isinstance(limit, Gt):
            words.append(f"more than {limit.gt}")
        if isinstance(limit, Ge):
            words.append(f"at least {limit.ge}")
        if isinstance(limit, Le):
            words.append(f"at most {limit.le}")
    return " and ".join(words)
