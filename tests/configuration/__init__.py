"""Tests of the configuration file of a team's service."""
