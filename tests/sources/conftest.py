"""A folder for logs, a place for a store, and an S3 server, for every test here."""

from __future__ import annotations

from tests.bucket import s3, s3_server
from tests.store.conftest import begun, logs, store

__all__ = ["begun", "logs", "s3", "s3_server", "store"]
