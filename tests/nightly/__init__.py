"""The night's work of a team's service."""
