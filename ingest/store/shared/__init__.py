"""A store in an object store: its files, the lease of a load, and the folder that follows it."""
