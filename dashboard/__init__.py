"""Questions and pages: is handed a connection to a published generation, shows what it says."""
