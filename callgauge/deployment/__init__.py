"""Service files that run Callgauge from a callgauge.toml: systemd, cron, launchd, Kubernetes, Docker."""
