"""A proxy between an agent and its model that records the traffic and passes it on unchanged."""

from callgauge.recorder.exchange import ExchangeLog
from callgauge.recorder.proxy import RecordingProxy

__all__ = ["ExchangeLog", "RecordingProxy"]
