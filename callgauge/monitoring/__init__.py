"""Health checks and Prometheus metrics: the age of a store, its loads, nightly runs and rates."""
