"""The command `callgauge record`, which starts the recorder and can run a command with it."""
