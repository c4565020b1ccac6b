"""A store in an object store: its files, a load's lease, and a local folder with the published store file."""
