"""Backups of a store in a folder or an object store, their checks, and the way back."""
