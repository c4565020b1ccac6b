"""The latency of tool calls and model steps: percentiles, and the number of measurements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from callgauge.analysis import wording

Kind = Literal["tool", "step"]
KINDS: Mapping[Kind, str] = {"tool": "Tool call", "step": "Model step"}
"""The name of each timed event, in words."""
PERCENTILES = {"p50": "half of them took at most this long", "p95": "95 % of them took at most this long"}
"""The percentiles by their names in the metric `latency`, each with its meaning."""


@dataclass(frozen=True, slots=True)
class Latency:
    """The latency of the tool calls or model steps of one slice, in milliseconds.

    `n` is the number of calls or steps with a latency, and `total` the number of all calls or steps. `p50`
    and `p95` are None if `n` is 0.
    """

    slice: str
    kind: Kind
    n: int
    total: int
    p50: float | None
    p95: float | None

    @property
    def basis(self) -> str:
        """The measured share in words, such as "measured on 98.1 % of tool calls"."""
        return wording.known_share(self.n, self.total, KINDS[self.kind].lower())


def read_latencies(rows: pd.DataFrame) -> list[Latency]:
    """Return the latency of each row of the metric `latency`, in the same order."""
    return [_read_latency(row) for row in rows.to_dict("records")]


def _read_latency(row: Mapping[Any, Any]) -> Latency:
    return Latency(row["slice"], row["kind"], row["n"], row["total"], row["p50"], row["p95"])
