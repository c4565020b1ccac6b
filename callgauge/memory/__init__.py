"""What a team decides about a store, kept beside it: acknowledgements, goals, baselines, prices."""
