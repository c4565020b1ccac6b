"""Provides a folder for logs, a folder for a store, and an S3 server."""

from __future__ import annotations

from tests.bucket import s3, s3_server
from tests.store.conftest import begun, logs, store

__all__ = ["begun", "logs", "s3", "s3_server", "store"]
