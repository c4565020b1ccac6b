"""Shows costs on pages: table cells, a chart of cost against success, and the prices in use."""
