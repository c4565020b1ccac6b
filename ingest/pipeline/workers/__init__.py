"""Worker pool: child processes read files in advance of the process that writes."""
