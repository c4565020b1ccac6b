"""Tests of the nightly report and of the gate of a store."""
