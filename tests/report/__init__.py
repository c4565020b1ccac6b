"""Tests of the morning report and of the gate of a store."""
