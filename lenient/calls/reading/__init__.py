"""What several dialects read a model's text with: places, JSON values, Python calls, tagged parameters."""
