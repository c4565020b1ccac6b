"""Backups of a store in a folder or an object store: make, check and restore them."""
