"""Gates for CI: is something worse by a margin? What those of trials and those of a store have in common."""
