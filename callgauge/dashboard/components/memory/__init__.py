"""What pages show of the team's memory, and the forms that change it."""
