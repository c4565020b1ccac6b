"""What pages show of money: cells of tables, the chart of cost against success, the prices in use."""
