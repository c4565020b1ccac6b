"""The version of Callgauge."""

CALLGAUGE_VERSION = "0.1.0"
