"""Loads session logs into the tables of a store; see `ingest.pipeline.load`."""
