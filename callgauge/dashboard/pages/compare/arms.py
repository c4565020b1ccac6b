"""Draws the controls that choose the slices A and B on the page Compare. The URL keeps every choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

import pandas as pd
import streamlit as st

from callgauge.analysis import arm_filters, wording
from callgauge.analysis.arm_filters import PARAMETERS, Arm, Days, Letter
from callgauge.analysis.measures.rates import RATES, RateDefinition
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.url_widgets import draw_url_widget
from callgauge.dashboard.pages.compare import ARM_KEYS
from callgauge.dashboard.url_keys import write_to_url
from callgauge.memory.baselines import Baseline

_PROMPTS, _BASELINES = 3, 3
_WEEK = timedelta(days=7)
Labels = Mapping[str, Mapping[str, str]]


def read_labels() -> Labels:
    """Return the labels of the values of each dimension, the most used values first."""
    choices = store_queries.ask("choices")
    return {
        name: dict(zip(rows.value, rows.label, strict=True))
        for name, rows in choices.groupby("dimension", sort=False)
        if isinstance(name, str)
    }


def choose_arms(labels: Labels, first: date | None, last: date | None) -> tuple[Arm, Arm]:
    """Draw the controls for the slices A and B and return both slices.

    Until a person chooses, the slices are the two models with the most measurements of the chosen rate.
    """
    if not any(key in st.query_params for key in ARM_KEYS):
        rate = RATES.get(st.query_params.get("rate") or "", RATES["parse_error"])
        for key, text in _most_measured_models(rate).items():
            write_to_url(key, text)
    return _choose_arm("A", labels, first, last), _choose_arm("B", labels, first, last)


def are_same(arms: tuple[Arm, Arm]) -> bool:
    """Return whether the slices A and B are identical."""
    a, b = arms
    return a.own == b.own and a.days == b.days


def draw_swap() -> None:
    st.button("Swap A and B", on_click=_swap, key="swap", icon=":material/swap_horiz:")


def choose_at_once(
    rate: RateDefinition,
    labels: Labels,
    first: date | None,
    last: date | None,
    baselines: Sequence[Baseline],
) -> None:
    """Draw links to common comparisons.

    A link selects both slices, or a baseline as slice A.
    """
    ready = {"The two models measured most": _most_measured_models(rate)}
    if first and last and last - first >= _WEEK:
        days = (last - _WEEK + timedelta(1), last)
        before = (days[0] - _WEEK, days[0] - timedelta(1))
        ready["Newest week vs the week before"] = {
            **arm_filters.arm_query("A", {}, before),
            **arm_filters.arm_query("B", {}, days),
        }
    for row in store_queries.ask("newest_prompts", limit=_PROMPTS).itertuples():
        name = wording.one_line(str(row.name), 40)
        ready[f"{name}: newest version vs the one before"] = {
            **arm_filters.arm_query("A", {"prompt": [str(row.previous)]}),
            **arm_filters.arm_query("B", {"prompt": [str(row.newest)]}),
        }
    b = {key: text for key in ARM_KEYS if key[0] == "b" and (text := st.query_params.get(key))}
    if filters.has_several_hosts(labels):
        # The link compares two hosts. The other filters of slice B, such as the model, apply to both hosts.
        rest = {key[1:]: text for key, text in b.items() if key != "b_provider"}
        hosts = [name for name in labels["provider"] if name != "unknown"][:2]
        ready["The two hosts used most"] = {
            f"{letter}{key}": text
            for letter, host in zip("ab", hosts, strict=True)
            for key, text in (rest | {"_provider": arm_filters.join_values([host])}).items()
        }
    for baseline in baselines[:_BASELINES]:
        name = wording.one_line(baseline.name, 40)
        ready[f"Compared with {name}"] = arm_filters.arm_query("A", baseline.slice, baseline.days) | b
    kept_rate = {"rate": st.query_params["rate"]} if "rate" in st.query_params else {}
    with st.container(horizontal=True, gap="medium", key="at_once"):
        for number, (label, query) in enumerate(ready.items()):
            draw_link(f"ready_{number}", label, filters.page_link("compare", {}, query | kept_rate))


def _most_measured_models(rate: RateDefinition) -> dict[str, str]:
    """Return the URL query for the two models with the most measurements.

    Return {} for fewer than two models.
    """
    # For a comparison of two models, `judge_sides` needs all rates. So this query asks for them, too.
    are_models = set(ARM_KEYS).intersection(st.query_params) <= {"a_model", "b_model"}
    rates = tuple(RATES) if are_models else (rate.name,)
    rows = store_queries.ask("slices", rates=rates, by="model", **filters.chosen_filters().parameters())
    by_use = sorted(
        rows[rows["rate"] == rate.name].to_dict("records"),
        key=lambda row: (row["slice"] == "unknown", -row["n"], -row["total"]),
    )
    if len(by_use) < 2:
        return {}
    first, other = (str(row["slice"]) for row in by_use[:2])
    return {
        **arm_filters.arm_query("A", {"model": [first]}),
        **arm_filters.arm_query("B", {"model": [other]}),
    }


def _swap() -> None:
    texts = {key: st.query_params.get(key) for key in ARM_KEYS}
    for key, text in texts.items():
        write_to_url(f"{'b' if key[0] == 'a' else 'a'}{key[1:]}", text)


def _choose_arm(letter: Letter, labels: Labels, first: date | None, last: date | None) -> Arm:
    prefix = letter.lower()
    with st.popover(_name_button(letter, labels), width="content", key=f"slice_{prefix}"):
        st.caption("A: what B is compared with" if letter == "A" else "B: compared with A")
        shown = [name for name in PARAMETERS if filters.can_narrow(name, labels.get(name, ()))]
        own = {name: _choose_values(f"{prefix}_{name}", name, labels) for name in shown}
        days = _choose_days(f"{prefix}_days", first, last) if first and last else None
    chosen = {name: values for name, values in own.items() if values}
    return Arm(letter, chosen, days, filters.chosen_filters().parameters())


def _name_button(letter: Letter, all_labels: Labels) -> str:
    """Return the letter of a slice with its filter values, such as “A: falcon-3, triage@4”."""
    parts = []
    for name in PARAMETERS:
        key = f"{letter.lower()}_{name}"
        text = st.query_params.get(key)
        is_newer = key in st.session_state and text == st.session_state.get(f"_url_{key}")
        values = st.session_state[key] if is_newer else arm_filters.split_values(text or "")
        labels = [all_labels.get(name, {}).get(value, value) for value in values]
        if labels:
            more = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
            parts.append(f"{wording.short_name(labels[0], 30)}{more}")
    if days := st.query_params.get(f"{letter.lower()}_days"):
        parts.append(wording.one_line(days, 30))
    return wording.link_label(f"{letter}: {', '.join(parts) or 'all calls'}")


def _choose_values(key: str, name: str, labels: Labels) -> tuple[str, ...]:
    options = labels.get(name, {})
    words = wording.dimension(name)

    def draw(drawn: str) -> list[str]:
        st.session_state[drawn] = [value for value in st.session_state[drawn] if value in options]
        return st.multiselect(
            f"{words.capitalize()} of slice {key[0].upper()}",
            list(options),
            st.session_state[drawn],
            format_func=lambda value: wording.one_line(options.get(value, value), 60),
            key=drawn,
            placeholder=f"Any {words}",
            width=320,
            wrap=False,
            label_visibility="collapsed",
        )

    def parse(text: str) -> list[str]:
        return [value for value in arm_filters.split_values(text) if value in options]

    return tuple(draw_url_widget(draw, key, [], parse, arm_filters.join_values))


def _choose_days(key: str, first: date, last: date) -> Days | None:
    def draw(drawn: str) -> tuple[date, ...]:
        span = st.session_state[drawn]
        if any(not first <= day <= last for day in span):
            st.session_state[drawn] = ()
        picked = st.date_input(
            f"Days of slice {key[0].upper()} (UTC)",
            st.session_state[drawn],
            first,
            last,
            key=drawn,
            format="YYYY-MM-DD",
            width=320,
            label_visibility="collapsed",
        )
        return picked if isinstance(picked, tuple) else (picked,)

    def parse(text: str) -> tuple[date, ...]:
        return arm_filters.read_days(text, first, last)

    none: tuple[date, ...] = ()
    days = draw_url_widget(draw, key, none, parse, arm_filters.join_days)
    return (days[0], days[-1]) if days else None


def calls_link(arm: Arm, own: Mapping[str, str], narrowed: Mapping[str, str] | None = None) -> str | None:
    """Return the link to a slice's calls.

    Returns None when the slice uses a filter that the Calls page does not have.
    """
    if not set(arm.own) <= set(filters.DIMENSIONS):
        return None
    return filters.page_link("calls", {**arm.own, **(narrowed or {})}, own, arm.days)


def read_makeup(arm: Arm) -> pd.DataFrame:
    return store_queries.ask("makeup", **arm.parameters())
