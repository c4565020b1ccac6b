"""Finds the failure stage of a tool call by fixed sentences that the agent writes into the tool result."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ingest.events import MESSAGE_READ, FaultLayer, FlagSource, ResultStatus
from ingest.formats.provider_messages.chat_messages import ResultFlag

Texts = Sequence[tuple[FaultLayer, re.Pattern[str]]]
"""Pairs of a failure stage and a pattern. The first match at the beginning of a failed result counts."""

PASSED = ResultFlag(ResultStatus.OK, FlagSource.EXPLICIT)


def find_layer(content: str, texts: Texts) -> FaultLayer | None:
    return next((layer for layer, words in texts if words.match(content)), None)


def failed_flag(
    content: str, layer: FaultLayer = FaultLayer.EXECUTION, source: FlagSource = FlagSource.EXPLICIT
) -> ResultFlag:
    """Return the flag of a failed tool call. The flag's message is the beginning of `content`.

    The status is DENIED for the failure stage REFUSED, and ERROR for any other stage.
    """
    status = ResultStatus.DENIED if layer is FaultLayer.REFUSED else ResultStatus.ERROR
    return ResultFlag(status, source, {"fault_layer": layer, "message": content[:MESSAGE_READ]})
