"""The page Models: which model makes the best calls, at what cost, and since when."""
