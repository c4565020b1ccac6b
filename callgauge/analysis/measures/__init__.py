"""Measurements that several pages share: rates, slices, comparisons, trends and verdicts."""
