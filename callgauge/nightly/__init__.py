"""Runs the nightly job of a service from callgauge.toml: load, retention, backup, report."""
