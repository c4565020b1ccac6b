"""A recording proxy: what an agent and its model say to each other passes unchanged, and is written down."""

from callgauge.recorder.exchange import ExchangeLog
from callgauge.recorder.proxy import RecordingProxy

__all__ = ["ExchangeLog", "RecordingProxy"]
