"""What monitoring programs ask: is the store fresh, and what do loads, nights and rates come to."""
