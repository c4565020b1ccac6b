"""Worker pool: child processes read files ahead of the process that writes."""
