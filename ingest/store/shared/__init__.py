"""A store in an object store: its files there, the lease of a load, and a folder that follows it."""
