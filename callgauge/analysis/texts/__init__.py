"""Functions that annotate and compare texts, pack text into URLs and write metrics as SQL."""
