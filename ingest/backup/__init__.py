"""Backups of a store in a folder or an object store: makes, checks and restores them."""
