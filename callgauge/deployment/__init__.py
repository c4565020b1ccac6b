"""Files that keep Callgauge running: for systemd, cron, launchd, Kubernetes, Docker; of a callgauge.toml."""
