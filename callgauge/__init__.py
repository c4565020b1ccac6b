"""Callgauge: which model and which prompt make tool calls that work.

In an installed wheel the packages `ingest` and `lenient` lie in the folder `_bundled` of this one: so the
wheel shares no file with the distribution `callgauge-lenient`, and each can be removed without harm to the
other.
"""

import sys
from pathlib import Path

_BUNDLED = (
    Path(__file__).resolve().parent / "_bundled"
)  # a checkout has none: there both lie beside this package
if _BUNDLED.is_dir() and str(_BUNDLED) not in sys.path:
    sys.path.insert(0, str(_BUNDLED))
