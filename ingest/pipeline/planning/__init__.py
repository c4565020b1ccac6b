"""Plans a load: which files to read, in which order, with which definitions and labels."""
