"""The page Compare: is slice B better than A, is the difference real, and which other traits differ?"""

from __future__ import annotations

import streamlit as st

from callgauge.dashboard import comparison, filters, store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.controls.rate_choice import choose_rate, choose_smallest
from callgauge.dashboard.pages.compare.arms import choose_arms, choose_at_once, read_labels
from callgauge.dashboard.pages.compare.costs import draw_costs, draw_pass_k
from callgauge.dashboard.pages.compare.sides import compare_sides, measure_sides, read_work
from callgauge.dashboard.pages.compare.tables import draw_differences, draw_forest, draw_other_rates
from callgauge.dashboard.pages.compare.verdict import draw_verdict


def show() -> None:
    st.title("Compare", anchor=False)
    known = read_labels()
    if not known:
        cards.show_no_matches("calls")
        return
    extent = store_queries.ask("extent").iloc[0]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        rate = choose_rate()
        smallest = choose_smallest()
        choose_at_once(rate, extent.first_day, extent.last_day)
    one, other = choose_arms(rate, known, extent.first_day, extent.last_day)
    if filters.chosen_filters().active_names():
        st.caption("The filter bar narrows both slices; a slice's own choice takes the place of the bar's.")
    a, b = measure_sides((one, other), comparison.name_arms(one, other, known))
    work = read_work(a, b, rate)
    held = compare_sides(a, b, rate, work)
    draw_verdict(a, b, rate, held, smallest)
    draw_forest(a, b, rate, held, work, smallest)
    draw_other_rates(a, b, held, smallest)
    draw_differences(a, b)
    draw_pass_k(a, b)
    draw_costs(a, b)


show()
