"""The text of a tool's result in, the layer at which the call failed out, by a producer's own sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ingest.events import FaultLayer, FlagSource, ResultStatus
from ingest.shapes.chat import Flag

MESSAGE = 500  # characters of a failed result that are kept as its reason

Texts = Sequence[tuple[FaultLayer, re.Pattern[str]]]
"""Layers and what a result's text begins with when a call failed there; the first that fits counts."""

PASSED = Flag(ResultStatus.OK, FlagSource.EXPLICIT)


def layer_in(content: str, texts: Texts) -> FaultLayer | None:
    return next((layer for layer, words in texts if words.match(content)), None)


def failed(
    content: str, layer: FaultLayer = FaultLayer.EXECUTION, source: FlagSource = FlagSource.EXPLICIT
) -> Flag:
    """The flag of a call that failed at this layer; one that was refused is denied, not wrong."""
    status = ResultStatus.DENIED if layer is FaultLayer.REFUSED else ResultStatus.ERROR
    return Flag(status, source, {"fault_layer": layer, "message": content[:MESSAGE]})
