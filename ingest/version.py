"""The version of Callgauge."""

CALLGAUGE_VERSION = "0.2.0"
