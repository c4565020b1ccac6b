"""Is B better than A, and is the difference real? Any two slices, with all that could explain it."""

from __future__ import annotations

import streamlit as st

from dashboard import answers, arms, filters
from dashboard.pages.compare_arms import at_once, choose, labels
from dashboard.pages.compare_sides import side
from dashboard.pages.compare_tables import forest, other_rates, what_differs
from dashboard.pages.compare_verdict import verdict_card
from dashboard.pages.compare_worth import costs, passed_again
from dashboard.widgets import cards
from dashboard.widgets.rate_choice import rate_choice


def show() -> None:
    st.title("Compare", anchor=False)
    known = labels()
    if not known:
        cards.nothing_matches("calls")
        return
    extent = answers.ask("extent").iloc[0]
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        rate = rate_choice()
        at_once(rate, extent.first_day, extent.last_day)
    one, other = choose(rate, known, extent.first_day, extent.last_day)
    if filters.chosen().active():
        st.caption("The filter bar narrows both slices; a slice's own choice takes the place of the bar's.")
    a, b = (side(arm, name) for arm, name in zip((one, other), arms.names(one, other, known), strict=True))
    verdict_card(a, b, rate)
    forest(a, b, rate)
    other_rates(a, b)
    what_differs(a, b)
    passed_again(a, b)
    costs(a, b)


show()
