"""Loads session logs into the tables of a store. The entry point is `ingest.pipeline.load`."""
