"""What a run leaves: its folder, the outcome of each trial, what makes one right."""
