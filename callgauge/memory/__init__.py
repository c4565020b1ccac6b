"""Stores a team's decisions and notes about a store: acknowledged alerts, goals, baselines, prices."""
