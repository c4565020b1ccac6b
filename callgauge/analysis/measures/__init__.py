"""Measurements that several pages use: rates, slices, comparisons, trends and verdicts."""
