"""Format tool-call errors next to public rates as text, JSON and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.comparisons.public_rates import PublicRow, PublicTable
from callgauge.analysis.verdicts.public_rates import describe_days_apart
from callgauge.cli.render.terminal import align_columns, describe_days, escape_for_terminal, to_json

_LONGEST = 40  # The maximum number of characters of a name.
_HEADS = (
    "model", "host", "tool-call errors", "k / n", "schema accuracy", "not measured", "parse errors",
    "public rate", "verdict",
)  # fmt: skip
_UNITS = (
    "Tool-call errors, schema accuracy and not measured are shares of requests; parse errors are a share of "
    "calls."
)


def list_lines(table: PublicTable, days: Mapping[str, str | None]) -> Iterator[str]:
    """Yield the sentences, the compared days, and one line for each model and host.

    The last lines list the public rates that match no calls.
    """
    for sentence in table.write_sentences(_name):
        yield escape_for_terminal(sentence)
    yield describe_days(days)
    shown = [row for row in table.rows if row.slice.share.n or row.public]
    if shown:
        yield ""
        yield _UNITS
        yield from map(escape_for_terminal, align_columns([_HEADS, *map(_make_row, shown)]))
    if left := len(table.rows) - len(shown):
        yield ""
        yield (
            f"Not listed: {wording.plural(left, 'pair')} of model and host without a request that could be "
            "checked. Their logs lack the model's own text or the tool definitions."
        )
    if table.unmatched:
        yield ""
        yield f"Public rates that match no calls: {sum(each.rates for each in table.unmatched):,}."
        for each in table.unmatched:
            yield escape_for_terminal(f"  {_name(each.model)} on {_name(each.host)}: {each.reason}")


def _make_row(row: PublicRow) -> tuple[str, ...]:
    share, total = row.slice.share, row.slice.total
    return (
        _name(row.slice.name),
        _name(row.slice.also),
        f"{wording.rate(share.k, share.n)} ({wording.interval(share.interval)})" if share.n else "–",
        wording.fraction(share.k, share.n),
        wording.rate(share.n - share.k, share.n),
        wording.rate(total - share.n, total),
        wording.rate(row.parse_errors.share.k, row.parse_errors.share.n) if row.parse_errors else "–",
        _describe_public(row),
        row.verdict.value,
    )


def _describe_public(row: PublicRow) -> str:
    if row.public is None:
        return "–"
    apart = describe_days_apart(row.days_apart)
    details = [row.public.day.isoformat(), _name(row.public.source), apart, row.other_spelling]
    return f"{wording.percent(row.public.rate)} ({', '.join(filter(None, details))})"


def _name(text: str) -> str:
    return wording.one_line(text, _LONGEST)


def write_json(table: PublicTable, days: Mapping[str, str | None]) -> str:
    """Return the sentences, the compared days, the rows and the unmatched public rates as JSON."""
    return to_json(
        {
            "sentences": table.write_sentences(_name),
            "days": days,
            "rows": [row.to_dict() for row in table.rows],
            "unmatched": [asdict(each) for each in table.unmatched],
        }
    )


def write_csv(table: PublicTable, days: Mapping[str, str | None]) -> str:
    """Return the rows as CSV, each with the compared days.

    Texts that a spreadsheet would interpret as a formula are escaped.
    """
    compared = {f"{end}_day": day for end, day in days.items()}
    rows: list[dict[str, Any]] = [{**row.to_dict(), **compared} for row in table.rows]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if rows:
        writer.writerow(rows[0])
        writer.writerows(
            [wording.in_sheet(value) if isinstance(value, str) else value for value in row.values()]
            for row in rows
        )
    return text.getvalue()
