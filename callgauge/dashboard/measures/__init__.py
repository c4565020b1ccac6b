"""Rates and slices: what is measured, compared and judged on several pages."""
