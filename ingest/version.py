"""Which Callgauge this is."""

CALLGAUGE_VERSION = "0.1.0"
