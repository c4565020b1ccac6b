"""Writes a leaderboard as files to hand out: an HTML page, Markdown, JSON and SVG badges.

The same leaderboard always gives the same bytes. All names come from logs and are escaped.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from hashlib import sha256
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.comparisons.leaderboard import (
    DEFINITIONS,
    RATE_NAMES,
    VALID,
    Leaderboard,
    ModelRates,
    ParseErrorTable,
)
from callgauge.analysis.measures.costs import Cost
from callgauge.analysis.measures.rates import RATES
from callgauge.analysis.measures.slices import Slice
from callgauge.documents.badge import draw_badge
from callgauge.documents.document import Document, DocumentCell, DocumentColumn, DocumentTable, Method
from callgauge.documents.html_page import write_html
from callgauge.documents.markdown import escape_text, write_markdown
from callgauge.stats import Interval, Share

PAGE, MARKDOWN, DATA, BADGES = "index.html", "leaderboard.md", "leaderboard.json", "badges"
MADE_BY = "callgauge publish"
"""The value of `made_by` in the JSON file. The value identifies a published folder."""
_MOST_MODELS, _MOST_ROWS = 7, 10  # rows of models, and of tools and prompts together: two printed pages
_MOST_COLUMNS = 5
_LONGEST, _LONGEST_HEAD = 32, 20  # maximum lengths of a name in a table
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)")  # file names that Windows does not allow
_TITLE = "Tool calls by model"
_COST = "Cost / success"
_THIN = "too little data"
_BADGE = "tool calls valid"

Files = Mapping[str, bytes]
"""The content of each file by its path in the published folder, with `/` between names."""


def write_files(board: Leaderboard, version: str) -> Files:
    """Return all files of a published leaderboard. `version` is the version of Callgauge."""
    document = make_document(board, version)
    badges = dict(_list_badges(board))
    methods = [f"- {escape_text(sentence)}" for sentence in _list_methods(board)]
    files = {
        PAGE: write_html(document),
        MARKDOWN: "\n".join([write_markdown(document), *methods]) + "\n",
        **{path: svg for path, (_, svg) in badges.items()},
    }
    listed = {path: label for path, (label, _) in badges.items()}
    files[DATA] = _write_data(board, version, [*files, DATA], listed)
    return {path: text.encode("utf-8", "replace") for path, text in files.items()}


def write_archive(files: Files) -> bytes:
    """Return a ZIP file with the files. The same files always give the same bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(f"leaderboard/{path}")  # the default time is 1980-01-01
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[path])
    return target.getvalue()


def make_document(board: Leaderboard, version: str) -> Document:
    """Return the leaderboard as a document: the sentence, the models, and valid calls by tool."""
    settings = {"As of": _write_day(board.as_of), "Days": _describe_days(board), **board.filters}
    if board.whole:
        settings["Calls"] = f"{board.whole.total:,}"
    settings["Callgauge"] = version
    parts = [_make_model_table(board.models)] if board.models else []
    return Document(
        title=_TITLE,
        answer=board.sentence,
        settings=settings,
        parts=[
            *parts,
            *(_make_cross_table(table, _MOST_ROWS // len(board.tables)) for table in board.tables),
        ],
        method=[Method("What the words mean", _list_methods(board))],
        link=None,
        made_at=None,
        small_print=f"Made by {MADE_BY}. This page contains no content of calls.",
    )


def _list_methods(board: Leaderboard) -> list[str]:
    return [*DEFINITIONS, *filter(None, [board.gap]), *board.notes]


def _write_day(day: date | None) -> str:
    return day.isoformat() if day else "not known"


def _describe_days(board: Leaderboard) -> str:
    if board.days is None:
        return "the logs have no dates"
    first, last = board.days
    return f"{first} to {last} ({wording.plural((last - first).days + 1, 'day')})"


# --- tables -----------------------------------------------------------------------------------------


def _make_model_table(models: Sequence[ModelRates]) -> DocumentTable:
    solid = [model for model in models if any(slice_.is_solid for slice_ in model.slices.values())]
    shown = (solid or models)[:_MOST_MODELS]
    title = "Models by rates and cost"
    if len(models) > len(shown):
        title += f" ({len(shown)} of {len(models)} models; {DATA} contains all)"
    axes = {
        name: max(
            (_find_high(model.slices[name].share) for model in shown if name in model.slices), default=1
        )
        for name in RATE_NAMES
    }
    places = _find_places([model.cost for model in shown if model.cost])
    columns = [
        DocumentColumn("Model"),
        *(DocumentColumn(RATES[name].title, is_number=True) for name in RATE_NAMES),
        DocumentColumn(_COST, is_number=True),
    ]
    rows = [
        [
            _make_name_cell(model.label),
            *(_make_rate_cell(model.slices.get(name), axes[name]) for name in RATE_NAMES),
            _make_cost_cell(model.cost, places),
        ]
        for model in shown
    ]
    return DocumentTable(title, columns, rows, stacks=True)


def _make_name_cell(label: str) -> DocumentCell:
    return DocumentCell(wording.short_name(label, _LONGEST))


def _find_high(share: Share) -> float:
    bounds = share.interval if share.n else None
    return bounds.high if bounds and share.has_enough else share.rate or 0.0


def _make_rate_cell(slice_: Slice | None, axis: float) -> DocumentCell:
    """Return a rate with its interval, k / n, and the share that was not measured.

    A slice with too little data has no rate. The drawing ends at the rate `axis`.
    """
    if slice_ is None or not slice_.share.n:
        return DocumentCell("–", "not measured", pale=True)
    share, counts = slice_.share, wording.fraction(slice_.share.k, slice_.share.n)
    gap = _describe_gap(slice_.share.n, slice_.total)
    if not slice_.is_solid:
        return DocumentCell(counts, "\n".join(filter(None, [_THIN, gap])), pale=True)
    bounds, scale = share.interval, axis or 1.0
    return DocumentCell(
        wording.rate(share.k, share.n),
        "\n".join(filter(None, [f"{wording.interval(bounds)}", counts, gap])),
        estimate=(share.rate or 0.0) / scale,
        low=bounds.low / scale if bounds else None,
        high=bounds.high / scale if bounds else None,
    )


def _describe_gap(measured: int, total: int) -> str:
    return f"{wording.rate(total - measured, total)} not measured" if total > measured else ""


def _find_places(costs: Sequence[Cost]) -> int:
    means = [cost.per_completed for cost in costs if cost.per_completed and cost.is_priced_enough]
    return wording.money_places(min((mean.amount for mean in means if mean.interval), default=0.0))


def _make_cost_cell(cost: Cost | None, places: int) -> DocumentCell:
    """Return the cost per successful turn with its interval, and the share of turns without a cost."""
    if cost is None or cost.per_completed is None or not cost.is_priced_enough:
        return DocumentCell("–", "no price" if cost is None or not cost.priced_calls else _THIN, pale=True)
    mean, counts = cost.per_completed, wording.fraction(cost.per_completed.turns, cost.judged)
    gap = _describe_gap(cost.judged, cost.turns)
    if mean.interval is None:
        return DocumentCell(counts, "\n".join(filter(None, [_THIN, gap])), pale=True)
    between = _write_money_range(mean.interval, cost.currency, places)
    amount = wording.money(mean.amount, cost.currency, places)
    return DocumentCell(amount, "\n".join(filter(None, [between, counts, gap])))


def _write_money_range(bounds: Interval, currency: str, places: int) -> str:
    places = max(places, wording.money_places(bounds.low or bounds.high, 1))
    return f"{wording.money(bounds.low, currency, places)}–{bounds.high:,.{places}f}"


def _make_cross_table(table: ParseErrorTable, most: int) -> DocumentTable:
    """Return the valid calls of at most `most` tools or prompts, in total and for the most used models."""
    totals = dict(list(table.totals.items())[:most])
    columns = [label for label in table.columns if label != "unknown"][:_MOST_COLUMNS]
    noun = wording.dimension(table.by)
    title = f"Valid tool calls by {noun} and model"
    limits = [
        f"{len(shown):,} of {wording.plural(whole, words)}"
        for shown, whole, words in (
            (totals, len(table.totals) + table.left_out, noun),
            (columns, len(table.columns), "model"),
        )
        if whole > len(shown)
    ]
    if limits:
        title += f" (the most used: {', '.join(limits)})"
    heads = [DocumentColumn(noun.capitalize()), DocumentColumn("All models", is_number=True)]
    heads += [DocumentColumn(wording.short_name(label, _LONGEST_HEAD), is_number=True) for label in columns]
    rows = [
        [
            _make_name_cell(row),
            _make_valid_cell(whole),
            *(_make_valid_cell(table.cells.get((row, column))) for column in columns),
        ]
        for row, whole in totals.items()
    ]
    return DocumentTable(title, heads, rows, stacks=True)


def _make_valid_cell(slice_: Slice | None) -> DocumentCell:
    if slice_ is None:
        return DocumentCell("–", "no calls", pale=True)
    valid = slice_.share.complement
    gap = _describe_gap(valid.n, slice_.total)
    if not valid.n:
        return DocumentCell("–", "not measured", pale=True)
    counts = wording.fraction(valid.k, valid.n)
    if not slice_.is_solid:
        return DocumentCell(counts, gap, pale=True)
    sub = "\n".join(filter(None, [wording.interval(valid.interval), counts, gap]))
    return DocumentCell(wording.rate(valid.k, valid.n), sub)


# --- badges -----------------------------------------------------------------------------------------


def _list_badges(board: Leaderboard) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the path of each badge, with the model and the SVG. The first badge is about all models.

    A model without a measured call has no badge.
    """
    if board.whole is None:
        return
    yield f"{BADGES}/all.svg", ("all models", _draw_badge(board, "", board.whole, board.gap))
    taken = {"all"}
    for model in board.models:
        if (slice_ := model.slices.get(VALID)) is not None and slice_.share.n:
            name = _name_file(model.label, taken)
            taken.add(name.casefold())
            label = f"{wording.short_name(model.label, _LONGEST)} · "
            yield f"{BADGES}/{name}.svg", (model.label, _draw_badge(board, label, slice_, model.gap))


def _draw_badge(board: Leaderboard, prefix: str, slice_: Slice, gap: str) -> str:
    value = describe_valid(slice_)
    described = f"{prefix}{_BADGE}: {value}. {_describe_days(board)}, measured by Callgauge. {gap}"
    return draw_badge(f"{prefix}{_BADGE}", value, described)


def describe_valid(slice_: Slice) -> str:
    """Return the valid calls as a badge shows them, such as "99.4 % (98.9–99.7), n = 2,113"."""
    valid = slice_.share.complement
    if not valid.n:
        return "not measured"
    if not slice_.is_solid:
        return f"{_THIN}, n = {valid.n:,}"
    share = wording.rate(valid.k, valid.n).rstrip("%")
    bounds = f" ({wording.interval(valid.interval).rstrip('%')})" if valid.interval else ""
    return f"{share} %{bounds}, n = {valid.n:,}"


def _name_file(label: str, taken: set[str]) -> str:
    """Return a file name for a model. If another model has this name, a hash of the label makes it unique."""
    name = _NO_NAME.sub("-", label).strip("-.")[:80]
    if not name or _RESERVED.match(name) or name.casefold() in taken:
        name = f"{name}-{sha256(label.encode('utf-8', 'replace')).hexdigest()[:8]}".lstrip("-")
        name = f"model-{name}" if _RESERVED.match(name) else name
    return name


# --- JSON -------------------------------------------------------------------------------------------


def _write_data(board: Leaderboard, version: str, paths: Sequence[str], badges: Mapping[str, str]) -> str:
    data = {
        "made_by": MADE_BY,
        "version": version,
        "as_of": board.as_of.isoformat() if board.as_of else None,
        "days": {"from": f"{board.days[0]}", "to": f"{board.days[1]}"} if board.days else None,
        "filters": dict(board.filters),
        "sentence": board.sentence,
        "how_measured": " ".join(DEFINITIONS),
        "notes": [*filter(None, [board.gap]), *board.notes],
        "valid_calls": _describe_share(board.whole, is_valid=True) if board.whole else None,
        "models": [_describe_model(model) for model in board.models],
        **{f"by_{table.by}": _describe_table(table) for table in board.tables},
        "badges": [{"file": path, "model": label} for path, label in badges.items()],
        "files": sorted(paths),
    }
    return wording.escape(json.dumps(data, indent=2, ensure_ascii=False)) + "\n"


def _describe_model(model: ModelRates) -> dict[str, Any]:
    rates = {name: _describe_share(model.slices.get(name)) for name in RATE_NAMES}
    cost = _describe_cost(model.cost)
    return {"model": model.label, **rates, "cost_per_successful_turn": cost, "note": model.gap}


def _describe_table(table: ParseErrorTable) -> list[dict[str, Any]]:
    return [
        {
            table.by: row,
            "valid_calls": _describe_share(whole, is_valid=True),
            "models": [
                {"model": column, "valid_calls": _describe_share(table.cells[row, column], is_valid=True)}
                for column in table.columns
                if (row, column) in table.cells
            ],
        }
        for row, whole in table.totals.items()
    ]


def _describe_share(slice_: Slice | None, *, is_valid: bool = False) -> dict[str, Any] | None:
    if slice_ is None:
        return None
    share = slice_.share.complement if is_valid else slice_.share
    bounds = share.interval if share.n else None
    return {
        "k": share.k,
        "n": share.n,
        "share": _round(share.rate),
        "low": _round(bounds.low if bounds else None),
        "high": _round(bounds.high if bounds else None),
        "total": slice_.total,
        "not_measured": slice_.total - share.n,
        "enough": slice_.is_solid,
    }


def _describe_cost(cost: Cost | None) -> dict[str, Any] | None:
    if cost is None or cost.per_completed is None:
        return None
    bounds = cost.per_completed.interval
    return {
        "amount": _round(cost.per_completed.amount),
        "currency": cost.currency,
        "low": _round(bounds.low if bounds else None),
        "high": _round(bounds.high if bounds else None),
        "successful_turns": cost.per_completed.turns,
        "judged_turns": cost.judged,
        "turns": cost.turns,
        "enough": cost.is_priced_enough and bounds is not None,
    }


def _round(value: float | None) -> float | None:
    """Return six significant digits, because the last digits of a sum depend on the order of its terms."""
    return None if value is None else float(f"{value:.6g}")
