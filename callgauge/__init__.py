"""Callgauge measures which models and which prompts make tool calls that work.

An installed wheel holds the packages `ingest` and `lenient` in the folder `_bundled` of this package. So the
wheel shares no file with the distribution `callgauge-lenient`, and either can be uninstalled without harm to
the other.
"""

import sys
from pathlib import Path

_BUNDLED = (
    Path(__file__).resolve().parent / "_bundled"
)  # a checkout has none: there both lie beside this package
if _BUNDLED.is_dir() and str(_BUNDLED) not in sys.path:
    sys.path.insert(0, str(_BUNDLED))
