"""Draws a card that says whether the newest version of each of the most used prompts is better."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.comparisons.versions import judge_pairs
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.verdicts.headlines import ArmNames, write_advice
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.links import draw_link
from callgauge.dashboard.components.controls.rate_choice import link_here

_PROMPTS = 3  # prompts on the card: the most used prompts with at least two versions


def draw_which_prompt(
    rate: RateDefinition, chosen: Mapping[str, Any], smallest: float, *, height: int
) -> None:
    """Draw the card on prompts.

    For each prompt the card says whether the newest version is better by `rate`, and for which values it is
    worse.
    """
    with cards.draw_card("Prompts", "newest_prompts", "breakdown", height=height, verdict="difference"):
        newest = store_queries.ask("newest_prompts", limit=_PROMPTS)
        newest = newest.drop_duplicates(["name", "newest", "previous"])
        pairs = [(str(row.newest), str(row.previous)) for row in newest.itertuples()]
        judged = store_queries.derive(
            lambda ask: judge_pairs(ask, rate, "prompt", pairs, chosen, smallest),
            *("newest prompts", rate.name, pairs, chosen, smallest),
        )
        for name, (current, against), breakdown in zip(newest.name.astype(str), pairs, judged, strict=True):
            names = ArmNames(_short_label(name, current), _short_label(name, against))
            advice = "no calls here to compare."
            if breakdown:
                advice = write_advice(breakdown, names, filters.short_label, smallest, with_effect=False)
            with st.container(gap="xxsmall"):
                st.markdown(f"**{wording.in_markdown(name, 40)}**: {wording.in_markdown(advice, 900)}")
                label = f"Versions of {wording.one_line(name, 40)}"
                draw_link(f"versions_of_{current}", label, link_here("prompts", {}, of=name))
        if not pairs:
            st.caption("No prompt here has a name and two versions.")
            draw_link("all_prompts", "All prompts", link_here("prompts", {}))


def _short_label(name: str, version: str) -> str:
    """Return a short label for a prompt version, such as @13 for triage@13."""
    label = filters.value_label("prompt", version)
    return label.removeprefix(name) if label.startswith(f"{name}@") else wording.one_line(label, 40)
