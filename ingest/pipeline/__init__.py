"""A load: plan which files to read, read them, write their rows, publish the new generation."""
