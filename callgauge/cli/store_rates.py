"""The headline rates of a whole store, as the Overview shows them for all days: same metric, same words."""

from __future__ import annotations

from pathlib import Path


def describe_store_rates(store: Path) -> list[tuple[str, str]]:
    """Return the title of each headline rate of a store, and its figures in words.

    Only rates that the logs of the store can tell. Raises UnshownStoreError or MetricError.
    """
    from callgauge.analysis import wording  # all of these open DuckDB, which `callgauge --help` does without
    from callgauge.analysis.measures.rates import HEADLINES, RATES
    from callgauge.analysis.metrics import read_batches
    from callgauge.analysis.metrics.published_store import open_generation, published_generation

    with open_generation(published_generation(str(store)), texts=True) as connection:
        asked = read_batches(connection, "slices", {"rates": HEADLINES}, len(HEADLINES))
        counts = {name: counted for rows in asked for name, _, _, *counted in rows}
    found = []
    for name in HEADLINES:
        k, n, total = counts.get(name, (0, 0, 0))[:3]
        if not n:
            continue
        nouns = wording.plural_of(RATES[name].noun)
        known = f", known for {wording.rate(n, total)} of {nouns}" if total > n else ""
        found.append((RATES[name].title.lower(), f"{k:,} of {n:,} {nouns} ({wording.rate(k, n)}){known}"))
    return found
