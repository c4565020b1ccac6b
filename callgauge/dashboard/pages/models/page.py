"""The page Models: the best model overall and for each prompt, tool and host, and all rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.comparisons.leaderboard import PublishedNames, read_leaderboard
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.metrics import MetricError
from callgauge.dashboard import filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import (
    choose_baseline,
    choose_dimension,
    choose_rate,
    choose_segment,
    choose_smallest,
)
from callgauge.dashboard.components.controls.url_widgets import draw_tabs
from callgauge.dashboard.components.definition_note import draw_measured_note
from callgauge.dashboard.components.memory.note_list import draw_notes
from callgauge.dashboard.components.money.page_costs import ask_ranked_costs
from callgauge.dashboard.components.rate_trend import draw_rate_trend
from callgauge.dashboard.file_names import name_file
from callgauge.dashboard.pages.models import RANKED
from callgauge.dashboard.pages.models.all_rates import draw_all_rates
from callgauge.dashboard.pages.models.audit_card import draw_strategies
from callgauge.dashboard.pages.models.cost_tab import draw_cost
from callgauge.dashboard.pages.models.first_seen import find_first_uses
from callgauge.dashboard.pages.models.heat_map import draw_heat_map
from callgauge.dashboard.pages.models.hosts import draw_hosts
from callgauge.dashboard.pages.models.model_versions import draw_versions
from callgauge.dashboard.pages.models.public_rates import draw_public_rates
from callgauge.dashboard.pages.models.ranking import SliceRanking, draw_ranking
from callgauge.dashboard.pages.models.which_where import draw_which_where
from callgauge.dashboard.shown_slices import ask_slices, list_prices, rank_slices, read_slices
from callgauge.dashboard.viewer import refuse_file
from callgauge.documents.leaderboard_files import write_archive, write_files
from callgauge.memory.records import ModelPrice
from ingest.version import CALLGAUGE_VERSION

_TOOLS = 8  # tools in the leaderboard, as in the command
_VIEWS = {"model": "Ranking", "prompt": "By prompt", "tool": "By tool", "host": "By host"}
_TABS = {
    "days": "Over time",
    "cost": "Cost",
    "where": "Which model where",
    "strategies": "Calling strategy",
    "versions": "Agent versions",
}


def show() -> None:
    st.title("Models", anchor=False)
    chosen = filters.chosen_filters().parameters()
    rate = choose_rate()
    answer = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        view = choose_segment("Table", "view", list(_VIEWS), _VIEWS.__getitem__)
        compared = st.container(width="content")
        with st.popover("Settings", type="tertiary", width="content"):
            by = choose_dimension("Rank", among=RANKED)
            smallest = choose_smallest()
        download = st.container(width="content")
    slices = read_slices(rate, by, chosen)
    if not slices[rate.name]:
        with answer:
            cards.show_no_matches(f"{rate.noun}s for this rate")
        return
    with compared:
        baseline = choose_baseline(by, slices[rate.name]).name if view != "host" else None
    costs = ask_ranked_costs(by, chosen)
    ranking = SliceRanking(
        rank_slices(slices, rate, by, chosen, costs, baseline=baseline, smallest=smallest),
        slices,
    )
    with answer:
        names = {row.slice.name: filters.short_label(by, row.slice.name) for row in ranking.table.rows}
        cards.draw_answer(ranking.judged.write_sentence(names), 900)
        draw_measured_note(rate, [each for several in slices.values() for each in several])
    if view == "host":
        draw_hosts(rate, chosen, smallest)
    elif view == "model":
        draw_ranking(ranking, chosen, smallest)
    else:
        draw_heat_map(ranking, view, chosen, smallest)
    if chosen["models"] and len(chosen["models"]) == 1:
        draw_notes("model", chosen["models"][0])
    draw_all_rates(by, [row.slice.name for row in ranking.rows], chosen)
    draw_public_rates(chosen, smallest)
    with draw_tabs("tab", _TABS) as tab:
        if tab == "days":
            _draw_trend(by, rate, chosen)
        elif tab == "cost":
            draw_cost(by, chosen)
        elif tab == "where":
            draw_which_where(chosen, smallest)
        elif tab == "strategies":
            draw_strategies(chosen)
        else:
            draw_versions(rate, chosen)
    with download:
        _draw_download(chosen)


@st.fragment
def _draw_download(chosen: Mapping[str, Any]) -> None:
    """Draw the options of `callgauge publish` and a download of its files for the chosen days and filters."""
    if refuse_file():
        return
    ask = store_queries.keep_asking()
    prices: Sequence[ModelPrice] = ()
    with suppress(MetricError):  # the filter bar shows why the prices cannot be read
        prices = list_prices()
    with st.popover("Download leaderboard", type="tertiary", icon=":material/download:", width="content"):
        st.caption("A web page, Markdown, JSON and badges to hand out. They contain no content of calls.")
        hides_tools = st.checkbox(
            "Hide tool names",
            key="hide_tools",
            help="The files contain numbers in place of the names of tools.",
        )
        prompts = st.checkbox(
            "Add prompts", key="add_prompts", help="Valid calls by prompt, with the prompts' names."
        )
        names = PublishedNames(prompts=prompts, tools=not hides_tools)

        def make_archive() -> bytes:
            board = read_leaderboard(ask, prices, chosen, _TOOLS, names)
            return write_archive(write_files(board, CALLGAUGE_VERSION))

        st.download_button(
            "Download",
            make_archive,
            name_file("leaderboard", "zip"),
            "application/zip",
            on_click="ignore",
            key="take_leaderboard",
        )


def _draw_trend(by: str, rate: RateDefinition, chosen: Mapping[str, Any]) -> None:
    grouping: dict[str, Any] = {"rates": (rate.name,), "by": by, "also": "day"}
    draw_rate_trend(
        f"{rate.title} by day and {wording.dimension(by)}",
        ask_slices(**grouping, **chosen),
        rate,
        by,
        key="models_trend",
        take=cards.Download(
            f"{rate.name}_by_{by}_and_day", store_queries.ask_later("slices", **grouping, **chosen)
        ),
        why=lambda shifts: find_first_uses(shifts, chosen["sources"]) if by == "model" else {},
    )


show()
