"""Plans a load: which files to read, in which order, and with which tool definitions and prompt names."""
