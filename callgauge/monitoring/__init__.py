"""Health checks and Prometheus metrics: store freshness, loads, nightly runs, and rates."""
