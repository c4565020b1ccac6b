"""The store: schema, generations, the ledger, rollups, and what a load changes in them."""
