"""Reads callgauge.toml, the single configuration file of a team's service."""
