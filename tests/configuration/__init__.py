"""The configuration of a team's service."""
