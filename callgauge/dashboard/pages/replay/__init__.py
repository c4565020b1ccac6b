"""The page Replay: what other settings would change in stored calls."""
