"""Says whether this server can ask a model for the playground: its environment names an endpoint and a key.

CALLGAUGE_LIVE_ENDPOINT is the address (`https://api.openai.com/v1`), CALLGAUGE_LIVE_KEY the key that pays,
CALLGAUGE_LIVE_WIRE the wire (openai-chat unless given), CALLGAUGE_LIVE_MODELS names of models between commas.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from callgauge.dashboard.components.shell.live_requests import LiveSender


def find_live_models(environment: Mapping[str, str] | None = None) -> LiveSender | None:
    """Return what asks models, None where the environment does not name it or the extra is not installed."""
    told = os.environ if environment is None else environment
    url, key = told.get("CALLGAUGE_LIVE_ENDPOINT"), told.get("CALLGAUGE_LIVE_KEY")
    if not url or not key or importlib.util.find_spec("httpx2") is None:
        return None
    from callgauge.live_sender import LiveModels  # a server without a key imports no gateway

    models = [name.strip() for name in told.get("CALLGAUGE_LIVE_MODELS", "").split(",") if name.strip()]
    try:
        return LiveModels(url, told.get("CALLGAUGE_LIVE_WIRE", "openai-chat"), key, models)
    except ValueError:  # the address or the wire is none
        return None
