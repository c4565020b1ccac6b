"""Records of nightly runs, and how new the data of each source is."""
