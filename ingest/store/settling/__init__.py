"""What completes a load: copies, late results and split turns, and the daily sums."""
