"""The store: schema, generations, the ledger, rollups, and the changes by a load."""
