"""Tests what pages show while the object storage of a shared store does not respond."""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import duckdb
import pytest

from callgauge.analysis.metrics import MetricError, answer_metric
from ingest.store.shared.outage import note_outage
from tests.dashboard.conftest import opened


@pytest.mark.thorough
def test_a_page_goes_on_and_says_since_when_the_object_store_is_gone(small: Path) -> None:
    assert not opened().warning
    note_outage(small, "the shared store s3://bucket/team cannot be reached")
    app = opened()
    (notice,) = app.warning
    assert "has not been reached since 20" in notice.value
    assert "s3://" not in notice.value
    assert app.metric or app.header
    note_outage(small, None)
    assert not opened().warning


def test_a_query_of_older_days_says_that_they_cannot_be_reached(small: Path) -> None:
    broken = Mock()
    broken.cursor().execute.side_effect = duckdb.Error(
        'Traceback (most recent call last):\n  File "/usr/lib/x.py", line 1, in read\nUnreachableError: gone'
    )
    with pytest.raises(MetricError, match="older calls are in an object store") as raised:
        answer_metric(broken, "last_load", {})
    assert "/usr/lib" not in str(raised.value)
