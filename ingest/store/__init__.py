"""The store: its tables, its published files, the ledger of loaded files, and the changes of a load."""
