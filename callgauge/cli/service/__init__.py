"""Commands of a team's service: its configuration and its night."""
