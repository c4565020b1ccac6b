"""Makes, checks and restores backups of a store, in a folder or an object store."""
