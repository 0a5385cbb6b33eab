"""Offers the loopback servers to the contract tests."""

from loopback.fixtures import api, model

__all__ = ["api", "model"]
