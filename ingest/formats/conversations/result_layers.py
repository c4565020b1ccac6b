"""Reads from a tool's result at which layer the call failed, by a producer's own sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ingest.events import FaultLayer, FlagSource, ResultStatus
from ingest.formats.provider_messages.chat_messages import ResultFlag

MESSAGE = 500  # characters of a failed result that are kept as its reason

Texts = Sequence[tuple[FaultLayer, re.Pattern[str]]]
"""Layers and what a result's text begins with when a call failed there; the first that fits counts."""

PASSED = ResultFlag(ResultStatus.OK, FlagSource.EXPLICIT)


def find_layer(content: str, texts: Texts) -> FaultLayer | None:
    return next((layer for layer, words in texts if words.match(content)), None)


def failed_flag(
    content: str, layer: FaultLayer = FaultLayer.EXECUTION, source: FlagSource = FlagSource.EXPLICIT
) -> ResultFlag:
    """Return the flag of a call that failed at this layer; one that was refused is denied, not wrong."""
    status = ResultStatus.DENIED if layer is FaultLayer.REFUSED else ResultStatus.ERROR
    return ResultFlag(status, source, {"fault_layer": layer, "message": content[:MESSAGE]})
