"""The browser's entry: the store that CALLGAUGE_STORE names, on the pages that dashboard.pages lists."""

from dashboard.pages import frame

frame.show()
