"""The commands `callgauge trial …`, with one module for each command, and functions that they share."""
