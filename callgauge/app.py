"""The Streamlit script of the dashboard.

The script draws the requested page from the store in CALLGAUGE_STORE. Streamlit runs this file again for
every visit, and reads `.streamlit/config.toml` and `static/` in this folder.
"""

from callgauge.dashboard.components.shell.live_models import find_live_models
from callgauge.dashboard.pages import shell

shell.show(find_live_models())
