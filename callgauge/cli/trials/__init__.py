"""The commands `callgauge trial …`, with one module for each command, and their shared functions."""
