"""A store in an object store: its files, the lease of a load, and a local folder with the published store
file.
"""
