"""Costs on pages: table cells, the chart of cost against success, and the prices in use."""
