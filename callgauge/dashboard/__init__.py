"""Questions and pages: what a published generation of the store says, in a browser."""
