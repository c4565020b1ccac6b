"""Reads a store from Python: rates as data frames, and comparisons of two slices.

The numbers are the same as on the pages and in the API.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from types import TracebackType
from typing import Any

import pandas as pd

from callgauge.analysis import wording
from callgauge.analysis.measures.rates import HEADLINES
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.metrics import MetricError
from callgauge.analysis.metrics.published_store import (
    StoreReader,
    UnshownStoreError,
    open_generation,
    published_generation,
)
from callgauge.api.questions.answers import describe_slice
from callgauge.api.questions.parameters import read_parameters
from callgauge.api.questions.problems import ProblemError, refuse_name
from callgauge.api.questions.rate_questions import (
    COMPARISON_ASKED,
    DIMENSIONS,
    RATES_ASKED,
    ask_comparison,
)
from callgauge.api.questions.slice_filters import ChosenFilters, choose_filters
from callgauge.api.questions.store_access import StoreAccess

Values = str | Sequence[str] | None
Day = str | date | None
_HOST, _PROVIDER = "host", "provider"  # on pages, the dimension `provider` is called host
_CALLS, _TURNS = "parse_error", "turn_success"  # the totals of these two rates count all calls and all turns
_COUNTS = {"k": "int64", "n": "int64"}
_SHARES = {"low": "float64", "high": "float64"}


class StoreQuestionError(Exception):
    """Raised when a store cannot be read or a method cannot return a result. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Whether side B differs from side A, with the same verdict as on the page Compare.

    `verdict` is better, worse, equivalent, undecided, measured_apart or unmeasured. `difference` is B minus A
    as a share, with the 95 % interval `low` to `high`. These three fields are None if nothing was compared.
    `p` is the adjusted p-value.
    """

    verdict: str
    sentence: str
    rate: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    is_mix_adjusted: bool


class Store:
    """A published store that is open for reading.

    Logs that are loaded later do not change what the open store contains. Close the store, or use it in a
    `with` statement.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).expanduser()
        with _explain_problems():
            generation = published_generation(str(self.path))
            self._connection = open_generation(generation, texts=True)
        self._reader = StoreReader(self._connection, generation)
        self._is_closed = False

    def __repr__(self) -> str:
        return f"callgauge.open_store({str(self.path)!r}){' (closed)' if self._is_closed else ''}"

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the store. Later method calls raise an error."""
        if not self._is_closed:
            self._is_closed = True
            self._connection.close()

    def rates(
        self,
        by: str | Sequence[str] = "model",
        *,
        rates: Sequence[str] = HEADLINES,
        days: str | None = None,
        since: Day = None,
        until: Day = None,
        model: Values = None,
        prompt: Values = None,
        tool: Values = None,
        host: Values = None,
    ) -> pd.DataFrame:
        """Return one row for each value of `by`.

        `by` is a dimension such as model, prompt, tool, host or day, or two dimensions.

        Columns: one per dimension and `label` (str), `calls` and `turns` (int64, totals), and for each rate
        NAME: `NAME`, `NAME_low`, `NAME_high` (float64, shares from 0 to 1 with their 95 % interval),
        `NAME_k`, `NAME_n` (int64, hits and measured calls or turns), `NAME_enough` (bool, whether there is
        enough data to rank). `day` is datetime64[s]. A rate that was not measured is NaN. `NAME_n` counts
        only measured calls or turns.

        Without days, the newest 28 days of the store count. Raises StoreQuestionError.
        """
        dimensions = (by,) if isinstance(by, str) else tuple(by)
        with _explain_problems():
            self._check_open()
            columns = [_find_dimension(name) for name in dimensions]
            if not 1 <= len(columns) <= 2 or len(set(columns)) < len(columns):
                raise ProblemError(400, f"by is one dimension or two different ones, not {dimensions!r}.")
            filters = {"model": model, "prompt": prompt, "tool": tool, _PROVIDER: host}
            values = _write_values({"rate": rates, "days": days, "since": since, "until": until, **filters})
            parameters = read_parameters(RATES_ASKED, values)
            chosen = choose_filters(self._reader.ask, parameters)
            names = tuple(dict.fromkeys([*(parameters["rate"] or HEADLINES), _CALLS, _TURNS]))
            cut = dict(zip(("by", "also"), columns, strict=False))
            slices = make_slices(self._reader.ask("slices", rates=names, **cut, **chosen.parameters))
        return _make_frame(slices, dimensions, columns, parameters["rate"] or HEADLINES, chosen)

    def compare(
        self,
        a: Mapping[str, Values],
        b: Mapping[str, Values],
        *,
        rate: str = "parse_error",
        days: str | None = None,
        since: Day = None,
        until: Day = None,
    ) -> Comparison:
        """Return whether side B is better than side A.

        A side is a dict, such as {"model": "x"}. The keys of a side are dimensions or `days`. Raises
        StoreQuestionError.
        """
        sides = {
            f"{letter}_{_PROVIDER if name == _HOST else name}": value
            for letter, side in (("a", a), ("b", b))
            for name, value in side.items()
        }
        values = _write_values({"rate": rate, "days": days, "since": since, "until": until, **sides})
        with _explain_problems():
            self._check_open()
            parameters = read_parameters(COMPARISON_ASKED, values)
            facts = ask_comparison(StoreAccess(self.path, self._reader, self._connection), parameters).facts
        difference = facts.get("difference") or {}
        return Comparison(
            facts["verdict"],
            facts["sentence"],
            facts["rate"],
            difference.get("estimate"),
            difference.get("low"),
            difference.get("high"),
            facts.get("p_adjusted"),
            bool(facts.get("at_the_same_mix")),
        )

    def _check_open(self) -> None:
        if self._is_closed:
            raise ProblemError(400, f"The store {self.path} is closed: open it again with open_store.")


def open_store(path: str | os.PathLike[str]) -> Store:
    """Open the store in a folder for reading. Raises StoreQuestionError when the store cannot be read."""
    return Store(path)


@contextmanager
def _explain_problems() -> Iterator[None]:
    try:
        yield
    except (ProblemError, UnshownStoreError, MetricError) as problem:
        raise StoreQuestionError(str(problem)) from None


def _find_dimension(name: str) -> str:
    dimensions = {_HOST: _PROVIDER, **{each: each for each in DIMENSIONS}}
    if name not in dimensions:
        raise refuse_name("dimension", str(name), dimensions)
    return dimensions[name]


def _write_values(values: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return parameters in the format that the API reads. Parameters that are None are left out."""
    return {
        name: [str(value)] if isinstance(value, str | date) else [str(each) for each in value]
        for name, value in values.items()
        if value is not None
    }


def _make_frame(
    slices: Sequence[Slice],
    dimensions: Sequence[str],
    columns: Sequence[str],
    rates: Sequence[str],
    chosen: ChosenFilters,
) -> pd.DataFrame:
    """Return the data frame for `Store.rates`. Rows with most calls come first, but days are in order."""
    rows: dict[tuple[str, ...], dict[str, Slice]] = {}
    for each in slices:
        rows.setdefault((each.name, each.also)[: len(columns)], {})[each.rate.name] = each
    by_size = sorted(rows, key=lambda row: (-_count_total(rows[row], _CALLS), row))
    keys = sorted(rows) if columns[0] == "day" else by_size
    labels = [" · ".join(chosen.label(*pair) for pair in zip(columns, key, strict=True)) for key in keys]
    data = {
        name: _make_values(column, [key[place] for key in keys])
        for place, (name, column) in enumerate(zip(dimensions, columns, strict=True))
    }
    data["label"] = pd.Series([wording.one_line(label, 200) for label in labels], dtype="str")
    for name, rate in (("calls", _CALLS), ("turns", _TURNS)):
        data[name] = pd.Series([_count_total(rows[key], rate) for key in keys], dtype="int64")
    for rate in rates:
        facts = [describe_slice(rows[key][rate]) if rate in rows[key] else {} for key in keys]
        data[rate] = pd.Series([fact.get("share") for fact in facts], dtype="float64")
        for part, kind in {**_SHARES, **_COUNTS}.items():
            missing = 0 if kind == "int64" else None
            data[f"{rate}_{part}"] = pd.Series([fact.get(part, missing) for fact in facts], dtype=kind)
        data[f"{rate}_enough"] = pd.Series([fact.get("enough", False) for fact in facts], dtype="bool")
    return pd.DataFrame(data)


def _make_values(column: str, values: list[str]) -> pd.Series[Any]:
    if column != "day":
        return pd.Series(values, dtype="str")
    return pd.to_datetime(pd.Series(values, dtype="str"), errors="coerce").astype("datetime64[s]")


def _count_total(slices: Mapping[str, Slice], rate: str) -> int:
    return slices[rate].total if rate in slices else 0
