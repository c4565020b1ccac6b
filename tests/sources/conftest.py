"""A folder for logs and a place for a store, for every test here."""

from __future__ import annotations

from tests.store.conftest import logs, store

__all__ = ["logs", "store"]
