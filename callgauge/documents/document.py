"""A document as plain data: a sentence, the tables and charts that prove it, and how they were counted.

All texts may be log text: the formats escape them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Tone = Literal["bad", "warn", "good", "calm", "info"]


@dataclass(frozen=True, slots=True)
class DocumentColumn:
    """A column of a table; `is_number`: its cells are aligned at the right.

    `zero`: the place of a line for no difference on the track of the intervals, 0 to 1.
    """

    title: str
    is_number: bool = False
    zero: float | None = None


@dataclass(frozen=True, slots=True)
class DocumentCell:
    """A cell: a text with smaller lines below.

    `at`, `low`, `high`: an interval on a track from 0 to 1. `share`, `heat`: 0 to 1, a bar and a shade.
    `pale`: too few observations to rely on.
    """

    text: str
    sub: str = ""
    tone: Tone | None = None
    at: float | None = None
    low: float | None = None
    high: float | None = None
    share: float | None = None
    heat: float | None = None
    is_code: bool = False
    pale: bool = False


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """A table with its title."""

    title: str
    columns: Sequence[DocumentColumn]
    rows: Sequence[Sequence[DocumentCell]]


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A point of a chart; `y` None breaks the line. `low`, `high`: its interval; `left`, `right`: across."""

    x: float
    y: float | None
    low: float | None = None
    high: float | None = None
    left: float | None = None
    right: float | None = None
    is_hollow: bool = False
    label: str = ""


@dataclass(frozen=True, slots=True)
class ChartSeries:
    """Points of one name. `colour`: 1 to 6, 0 for grey. `in_legend`: False leaves its name out."""

    name: str
    points: Sequence[ChartPoint]
    colour: int = 0
    line: Literal["solid", "dashed", "dotted", "none"] = "solid"
    is_step: bool = False
    has_points: bool = True
    is_bar: bool = False
    in_legend: bool = True


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """The scale of a chart in one direction, with the places that are named."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class ChartBand:
    """A stretch of one axis, across the whole chart; a line where both ends are equal."""

    axis: Literal["x", "y"]
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ChartText:
    """A text at a place of the chart, which ends, begins or is centred there."""

    text: str
    x: float
    y: float
    anchor: Literal["start", "middle", "end"] = "middle"


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines, points or bars between two axes; `words` say what it shows to those who cannot see it."""

    title: str
    words: str
    series: Sequence[ChartSeries]
    x: ChartAxis
    y: ChartAxis
    bands: Sequence[ChartBand] = ()
    texts: Sequence[ChartText] = ()


@dataclass(frozen=True, slots=True)
class Method:
    """How something was counted: the question that was asked, and notes on it."""

    question: str
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """The whole document.

    `title`: what it is about; `answer`: the sentence that stands alone; `settings`: what was chosen, by name;
    `link`: the address that shows the same, None without one; `small_print`: where the data are from.
    """

    title: str
    answer: str
    settings: Mapping[str, str]
    parts: Sequence[DocumentTable | Chart]
    method: Sequence[Method]
    link: str | None
    made_at: datetime
    small_print: str = ""

    @property
    def tables(self) -> list[DocumentTable]:
        return [part for part in self.parts if isinstance(part, DocumentTable)]
