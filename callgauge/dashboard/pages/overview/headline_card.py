"""A headline card of the page Overview: title, figure and change; a figure that rests on few is pale."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import streamlit as st


@contextmanager
def draw_headline_card(
    title: str,
    figure: str,
    change: str | None,
    *,
    colour: Literal["normal", "inverse", "off"] = "off",
    few: bool = False,
) -> Iterator[None]:
    """Draw the card; the body of the `with` statement draws what stands below the figure.

    `colour`: that of the change. `few`: there are too few observations or sessions to rely on the figure.
    """
    key = f"few_{title.lower().replace(' ', '_')}" if few else None  # shell.css draws the figure pale
    with st.container(border=True, height="stretch", gap="xsmall", key=key):
        st.metric(title, figure, change, delta_color=colour, delta_arrow="off")
        yield
