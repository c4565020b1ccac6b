"""Runs Streamlit's command line, as `python -m streamlit` does, and ends at Ctrl-C without a message."""

from __future__ import annotations

from contextlib import suppress

from click import Abort  # Streamlit's command line is made with it; Ctrl-C becomes this
from streamlit.web.cli import main

if __name__ == "__main__":
    with suppress(Abort):
        main(prog_name="streamlit", standalone_mode=False)
