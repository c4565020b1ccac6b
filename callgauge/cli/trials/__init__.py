"""The commands `callgauge trial …`: one module a command, and what several of them need."""
