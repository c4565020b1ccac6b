"""Receives traces over OTLP/HTTP and writes them as logs, for `callgauge serve` and `callgauge record`."""
