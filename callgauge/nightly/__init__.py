"""What a team's service does every night: load, retention, backup, report, by its callgauge.toml."""
