"""The page Errors: what goes wrong, by layer, code and signature."""
