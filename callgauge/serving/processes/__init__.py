"""The processes of a served dashboard: a front process, and workers that run the pages."""
