"""Functions that annotate and compare texts, pack texts into URLs and write metrics as SQL."""
