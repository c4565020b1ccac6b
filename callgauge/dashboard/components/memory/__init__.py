"""Shows the team's decisions and notes on pages, and the forms that change decisions and notes."""
