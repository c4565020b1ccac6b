"""A person's SQL and a generation in, bounded rows out, read in a process of its own that may be killed."""
