"""Records of nightly runs, and the time of the newest data of each source."""
