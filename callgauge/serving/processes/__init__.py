"""Runs a served dashboard as several processes: a front process, and workers that run the pages."""
