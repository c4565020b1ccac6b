"""How a run goes: the order of trials, the budget, going on after an end, the trials themselves."""
