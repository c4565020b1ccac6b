"""A document as plain data: a sentence, tables, charts, and how the numbers were counted.

Any string may come from a log, so every output format escapes all strings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Tone = Literal["bad", "warn", "good", "calm", "info"]


@dataclass(frozen=True, slots=True)
class DocumentColumn:
    """A column of a table. With `is_number`, the column is right-aligned.

    `zero` is the position of the line for no difference on the axis of intervals, from 0 to 1.
    """

    title: str
    is_number: bool = False
    zero: float | None = None


@dataclass(frozen=True, slots=True)
class DocumentCell:
    """A cell: a text with smaller lines below.

    `estimate`, `low` and `high` draw an interval on an axis from 0 to 1. `share` (0 to 1) is drawn as a bar,
    and `heat` (0 to 1) as a colour. `pale` means that there are too few observations for a reliable value.
    """

    text: str
    sub: str = ""
    tone: Tone | None = None
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    share: float | None = None
    heat: float | None = None
    is_code: bool = False
    pale: bool = False


@dataclass(frozen=True, slots=True)
class DocumentTable:
    """A table. If `stacks` is True, a narrow screen shows each row as a block, with a title at each value."""

    title: str
    columns: Sequence[DocumentColumn]
    rows: Sequence[Sequence[DocumentCell]]
    stacks: bool = False


@dataclass(frozen=True, slots=True)
class ChartPoint:
    """A point of a chart. A point without `y` interrupts the line.

    `low` and `high` are the ends of the vertical error bar. `left` and `right` are the ends of the horizontal
    error bar.
    """

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
    """A named series of points.

    `colour` is 1 to 6, or 0 for grey. If `in_legend` is False, the legend does not contain the series.
    """

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
    """The scale of one axis, with its labelled positions."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class ChartBand:
    """A range of one axis that is coloured across the whole chart.

    If both ends are equal, the band is a line.
    """

    axis: Literal["x", "y"]
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ChartText:
    """A text at a position of the chart.

    The start, the middle or the end of the text is at the position.
    """

    text: str
    x: float
    y: float
    anchor: Literal["start", "middle", "end"] = "middle"


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of lines, points or bars with two axes. `words` describes the chart for screen readers."""

    title: str
    words: str
    series: Sequence[ChartSeries]
    x: ChartAxis
    y: ChartAxis
    bands: Sequence[ChartBand] = ()
    texts: Sequence[ChartText] = ()


@dataclass(frozen=True, slots=True)
class Method:
    """How something was counted: the question that the metric answers, and notes on the metric."""

    question: str
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Document:
    """A whole document.

    `answer` is a sentence that a reader understands without the rest of the document. `settings` maps the
    name of each setting to its value. `link` is the URL of the same view, or None. `made_at` is None if the
    same data must always give the same bytes. `small_print` says where the data come from.
    """

    title: str
    answer: str
    settings: Mapping[str, str]
    parts: Sequence[DocumentTable | Chart]
    method: Sequence[Method]
    link: str | None
    made_at: datetime | None
    small_print: str = ""

    @property
    def tables(self) -> list[DocumentTable]:
        return [part for part in self.parts if isinstance(part, DocumentTable)]
