"""The command `callgauge record`, which starts the recorder and, if given, another command."""
