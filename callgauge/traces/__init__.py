"""Takes traces of agents in over OTLP/HTTP and writes them as logs, for `callgauge serve` and `record`."""
