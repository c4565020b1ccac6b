"""The command `callgauge record`: the recorder, and the command that it runs."""
