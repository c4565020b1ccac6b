"""Serves a dashboard with several processes: a front process, and workers that execute the pages."""
