"""The one configuration file of a team's service, callgauge.toml."""
