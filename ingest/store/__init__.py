"""The store: its tables, its published files, the list of loaded files, and the changes of a load."""
