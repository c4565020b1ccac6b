"""A store in an object store: its files, the lease of a load, and the local folder that follows it."""
