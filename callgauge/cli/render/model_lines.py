"""Formats the models of a store with their names in the logs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from callgauge.cli.render.printable import escape_for_terminal

if TYPE_CHECKING:
    from ingest.load_report import ModelName, ModelNamesReport

_SOURCES = {"path": "from the path", "given": "from --model"}


def model_lines(report: ModelNamesReport) -> Iterator[str]:
    """Yield a line for each model, with the names that count as it on lines of their own."""
    if not report.names:
        yield "no log of the store names a model; --model and --from-path of `callgauge ingest` do"
    for model, names in groupby(report.names, key=lambda name: name.model):
        several = list(names)
        calls = sum(name.calls for name in several)
        told = _describe_origin(several[0]) if len(several) == 1 else ""
        yield escape_for_terminal(f"{model}: {calls:,} model call{'' if calls == 1 else 's'}{told}")
        if len(several) > 1:
            for name in several:
                yield escape_for_terminal(f"  {name.model_name}: {name.calls:,}{_describe_origin(name)}")
    yield "aliases are on" if report.aliases_enabled else "aliases are off: names count as the logs have them"


def _describe_origin(name: ModelName) -> str:
    """Return where a name comes from and why it counts as another model; nothing for the usual."""
    why = [_SOURCES[name.source]] if name.source in _SOURCES else []
    if name.rule:
        named = f"in the logs {name.model_name}, " if name.model_name != name.model else ""
        why.append(f"{named}by {name.rule}")
    return f" ({', '.join(why)})" if why else ""
