"""The filters of all pages that count calls: days, model, host, prompt and so on.

The URL keeps the filters. The host is offered when the store has several hosts. Trial run and variant are
offered when the store has trials. If no trial run and no variant is chosen, no page counts trials.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from callgauge.analysis import wording
from callgauge.dashboard import store_queries
from callgauge.dashboard.url_keys import declared_url_keys, write_to_url
from callgauge.memory.baselines import Baseline
from callgauge.memory.kept_slices import PARAMETERS, KeptSlice, slice_parameters
from ingest.time_ranges import PRESETS, Days, TimeRange, read_range

TRIALS = ("run", "arm")
HOST = "provider"
MCP_SERVER = "mcp_server"
RARE = ("project", "branch", "sub_agent", "environment")
"""Dimensions of sessions that the daily sums do not have. The filter bar lists them under More."""
DIMENSIONS = ("model", HOST, "prompt", "tool", MCP_SERVER, "source", *TRIALS, *RARE)
DAYS = "days"
COMPARED_WITH = "baseline"
"""The URL key for the days to compare with."""
DAYS_BEFORE, NOTHING = "days before", "nothing"
# Links from before December 2026 contain these texts.
_OLD_TEXTS = {
    "Baseline: days before": DAYS_BEFORE,
    "No baseline": NOTHING,
}
_OLD_PREFIX = "Baseline: "
# Links to every page keep the URL keys with these prefixes, which apply to all pages.
_CARRIED = ("rate", "smallest", COMPARED_WITH, "base_")
_CHOSEN = "_filters"
_LABELS = "_labels"
_BASELINES = "_baselines"
_UNNAMED = frozenset({"unknown", "none"})


@dataclass(frozen=True, slots=True)
class Filters:
    """The chosen filters. The field names are also the names of the metric parameters.

    None means no restriction, except for `runs` and `arms`. When `runs` and `arms` are both None, no trials
    are counted.
    """

    from_day: date | None = None
    to_day: date | None = None
    models: tuple[str, ...] | None = None
    providers: tuple[str, ...] | None = None
    prompts: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    mcp_servers: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    runs: tuple[str, ...] | None = None
    arms: tuple[str, ...] | None = None
    projects: tuple[str, ...] | None = None
    branches: tuple[str, ...] | None = None
    sub_agents: tuple[str, ...] | None = None
    environments: tuple[str, ...] | None = None

    def parameters(self) -> dict[str, Any]:
        return asdict(self)

    def by_dimension(self) -> dict[str, tuple[str, ...]]:
        return {name: getattr(self, PARAMETERS[name]) or () for name in DIMENSIONS}

    def active_names(self) -> list[str]:
        """Return the names of the filters that narrow the view."""
        days = ["days"] if self.from_day or self.to_day else []
        return days + [wording.dimension(name) for name, values in self.by_dimension().items() if values]


def has_several_hosts(labels: Mapping[str, Mapping[str, str]] | None = None) -> bool:
    """Return whether the store has more than one host. Only then do pages show hosts."""
    all_labels = st.session_state.get(_LABELS, {}) if labels is None else labels
    return are_several(all_labels.get(HOST, ()))


def keep_labels(name: str, labels: Mapping[str, str]) -> None:
    """Keep the label of each value of a dimension for the rest of this script run."""
    st.session_state.setdefault(_LABELS, {})[name] = labels


def are_several(hosts: Iterable[str]) -> bool:
    return sum(host != "unknown" for host in hosts) > 1


def can_narrow(name: str, values: Iterable[str]) -> bool:
    """Return whether a filter by this dimension can leave some calls out, given the dimension's `values`.

    A filter by host needs two values. A filter by trial, MCP server or a rare dimension needs one value.
    """
    if name == HOST:
        return are_several(values)
    return name not in (MCP_SERVER, *TRIALS, *RARE) or any(value not in _UNNAMED for value in values)


def keep_choices(chosen: Filters, baselines: Sequence[Baseline]) -> None:
    """Keep the selection in the filter bar, and the team's baselines, for the rest of this script run."""
    st.session_state[_CHOSEN] = chosen
    st.session_state[_BASELINES] = {wording.one_line(baseline.name, 40): baseline for baseline in baselines}


def kept_baselines() -> Mapping[str, Baseline]:
    baselines: Mapping[str, Baseline] = st.session_state.get(_BASELINES, {})
    return baselines


def read_compared_with(text: str | None) -> str:
    """Return the baseline days as text: "days before", "nothing", the name of a baseline, or a range of days.

    Raises ValueError for any other `text`.
    """
    baseline = (text or DAYS_BEFORE).strip()
    if baseline in kept_baselines():
        return baseline
    baseline = _OLD_TEXTS.get(baseline, baseline.removeprefix(_OLD_PREFIX))
    if baseline in (DAYS_BEFORE, NOTHING, *kept_baselines()):
        return baseline
    return read_range(baseline).text


def compared_with() -> str:
    """Return the baseline days, as the URL names them.

    An invalid text in the URL counts as "days before".
    """
    try:
        return read_compared_with(st.query_params.get(COMPARED_WITH))
    except ValueError:
        return DAYS_BEFORE


def _days_before(days: Days, length: int) -> Days:
    return days[0] - timedelta(length), days[0] - timedelta(1)


def read_labels() -> Mapping[str, Mapping[str, str]]:
    """Return a unique label for each value in the store, by dimension, the most used value first.

    The URL contains labels, not values. Raises MetricError.
    """
    return store_queries.derive(
        lambda ask: {
            str(dimension): wording.unique_labels(rows.value.tolist(), rows.label.tolist())
            for dimension, rows in ask("choices").groupby("dimension", sort=False)
        },
        "labels",
    )


def read_trials() -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Return the chosen trial runs and the chosen variants, before the filter bar is drawn.

    None means that nothing is chosen.
    """
    labels = read_labels()
    runs, arms = (_read_choice(name, labels.get(name, {})) for name in TRIALS)
    return runs, arms


def _read_choice(name: str, labels: Mapping[str, str]) -> tuple[str, ...] | None:
    chosen = chosen_labels(name, labels)
    return tuple(value for value, label in labels.items() if label in chosen) or None


def chosen_labels(name: str, labels: Mapping[str, str]) -> list[str]:
    if name in st.session_state:
        return [labels[value] for value in st.session_state[name] if value in labels]
    # Before the first run, only the URL has the chosen values. The URL contains labels instead of values.
    allowed = set(labels.values())
    return [label for label in st.query_params.get_all(name) if label in allowed]


def known_labels(name: str) -> Mapping[str, str]:
    """Return the labels that the filter bar shows for the values of a dimension."""
    labels: Mapping[str, str] = st.session_state.get(_LABELS, {}).get(name, {})
    return labels


def reset() -> None:
    """Clear the filter bar, and all URL keys that Reset removes on this page."""
    for name in declared_url_keys().dropped:
        write_to_url(name, None)
    for name in DIMENSIONS:
        st.session_state[name] = []
    st.session_state[DAYS] = PRESETS[0]


def show_everything() -> None:
    """Clear the filter bar, and choose all days."""
    reset()
    show_all_days()


def show_all_days() -> None:
    st.session_state[DAYS] = TimeRange().text


def chosen_baseline() -> Days | None:
    """Return the first and the last day of the baseline, or None when no comparison is chosen."""
    chosen, text = chosen_filters(), compared_with()
    days = (chosen.from_day, chosen.to_day) if chosen.from_day and chosen.to_day else None
    if text in kept_baselines():
        return kept_baselines()[text].days
    if text == NOTHING:
        return None
    length = (days[1] - days[0]).days + 1 if days else None
    typed = TimeRange(length) if text == DAYS_BEFORE else read_range(text)
    if typed.length and not typed.before:
        return _days_before(days, typed.length) if days else None
    today = datetime.now(UTC).date()
    return typed.resolve(today, today)


def baseline_slice() -> KeptSlice:
    """Return the filters that the team saved with the chosen baseline.

    Returns an empty mapping when the page's filters apply to the baseline.
    """
    baseline = kept_baselines().get(compared_with())
    return baseline.slice if baseline else {}


def baseline_parameters(chosen: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the metric parameters for the baseline, made from the parameters for the `chosen` days.

    Returns None when no baseline is chosen. Filters that were saved with the baseline replace the page's
    filters.
    """
    days = chosen_baseline()
    if days is None:
        return None
    return {**chosen, **slice_parameters(baseline_slice()), "from_day": days[0], "to_day": days[1]}


def describe_slice(kept_slice: KeptSlice) -> str:
    """Return saved filters in words, such as heron · fixer@13, or “all calls” for no filters."""
    words = [
        short_label(name, values[0]) + (f" and {len(values) - 1} more" if len(values) > 1 else "")
        for name, values in kept_slice.items()
    ]
    return " · ".join(words) or "all calls"


def chosen_filters() -> Filters:
    chosen: Filters = st.session_state.get(_CHOSEN, Filters())
    return chosen


def active_filter_names() -> list[str]:
    """Return the names of all filters that narrow the view, including the filters of the page itself."""
    return chosen_filters().active_names() + [
        words for name, words in declared_url_keys().narrowing.items() if st.query_params.get(name)
    ]


def value_label(dimension: str, value: str) -> str:
    """Return the label of a value of a dimension, or the value if the value has no label."""
    label_dimension = "prompt" if dimension == "prompt_name" else dimension
    return known_labels(label_dimension).get(value, value)


def short_label(dimension: str, value: str) -> str:
    """Return a label of at most 60 characters for a value of a dimension."""
    return wording.short_name(value_label(dimension, value), 60)


def page_link(
    page: str,
    narrowed: Mapping[str, str | tuple[str, ...]],
    own: Mapping[str, str],
    days: tuple[date, date] | None = None,
) -> str:
    """Return a relative URL of `page` that keeps the chosen filters.

    `narrowed` replaces the filters of some dimensions. `own` holds URL keys of the page itself. `days`
    replaces the chosen days.
    """
    values: dict[str, tuple[str, ...]] = chosen_filters().by_dimension()
    values |= {name: (value,) if isinstance(value, str) else value for name, value in narrowed.items()}
    pairs = [(name, value_label(name, value)) for name, several in values.items() for value in several]
    query = st.query_params.to_dict()  # one look-up, because a page has many links
    text = TimeRange(first=days[0], last=days[1]).text if days else query.get(DAYS)
    pairs += [(DAYS, text)] if text else []
    kept_pairs = [
        (name, text) for name, text in query.items() if name.startswith(_CARRIED) and name not in own and text
    ]
    return f"{page}?{urlencode(pairs + list(own.items()) + kept_pairs)}"
