"""Tests of the nightly run of a team's service."""
