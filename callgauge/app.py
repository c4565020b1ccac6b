"""The browser's entry: draws the page asked for, over the store that CALLGAUGE_STORE names.

Streamlit runs this file anew for every visit, and reads `.streamlit/config.toml` and `static/` beside it.
"""

from callgauge.dashboard.pages import shell

shell.show()
