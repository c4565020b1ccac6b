"""The browser's entry in a checkout; `callgauge serve` runs callgauge/app.py, which is in the wheel."""

from callgauge.dashboard.pages import shell
from callgauge.live_models import find_live_models

shell.show(find_live_models())
