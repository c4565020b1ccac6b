"""What the nights of a team did, and how new the data of its sources is."""
