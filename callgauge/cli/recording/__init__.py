"""The command `callgauge record`, which starts the recorder and can run another command with it."""
