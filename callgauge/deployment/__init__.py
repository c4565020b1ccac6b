"""Writes service files that run Callgauge: systemd, cron, launchd, Kubernetes, Docker."""
