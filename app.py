"""The Streamlit script for a checkout. `callgauge serve` runs callgauge/app.py, which is in the wheel."""

from callgauge.dashboard.components.shell.live_models import find_live_models
from callgauge.dashboard.pages import shell

shell.show(find_live_models())
