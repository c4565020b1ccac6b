"""Runs an S3 server on this machine. Its only bucket is empty at the start of each test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import boto3
import pytest
import s3fs
from moto.server import ThreadedMotoServer

BUCKET = "logs"


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    moto = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    yield f"http://{host}:{port}"
    moto.stop()


def forget_drivers() -> None:
    """Clear the cached storage drivers, so that the environment variables are read again."""
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture
def s3(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    forget_drivers()
    client = boto3.client("s3", endpoint_url=s3_server)
    client.create_bucket(Bucket=BUCKET)
    yield client
    for entry in client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        client.delete_object(Bucket=BUCKET, Key=entry["Key"])
    client.delete_bucket(Bucket=BUCKET)
