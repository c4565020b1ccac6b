"""Writes a report as text: a sentence for each variant, the table of results, and what is unknown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from math import floor, log10
from pathlib import Path

import orjson

from callgauge.analysis.verdicts.trials import TrialAnswer, VariantAnswer, name_place, write_trial
from callgauge.stats.paired import FEWEST_UNLIKE
from callgauge.stats.task_pairs import FactorDifference, MeasuredDifference
from callgauge.trials.planning.plan import MeasureName
from callgauge.trials.results.run_folder import Decision, RunFolder
from callgauge.trials.verdicts.measures import MEASURES, Measure
from callgauge.trials.verdicts.report import ArmMeasure, ArmReport, Report, make_report
from callgauge.trials.verdicts.run_record import read_run

FACTOR_HEADS = ("setting", "against", "where", "difference", "verdict")
HEADS = ("variant", "measure", "k / n", "rate, 95 % interval", "difference", "verdict")
_UNPLANNED = (
    "\\* not the planned analysis: a 95 % interval of one analysis, not corrected for several; "
    f"no verdict if the variants differ in fewer than {FEWEST_UNLIKE} tasks."
)


def answer_lines(report: Report) -> list[str]:
    """Return the sentences that answer the question of a trial run, as on the page Trials."""
    if len(report.arms) < 2:
        return ["Nothing is compared: the plan has one variant."]
    (reference,) = (arm for arm in report.arms if arm.is_reference)
    measured = {
        arm.name: next(each for each in arm.measures if each.measure == report.primary) for arm in report.arms
    }
    variants = [
        VariantAnswer(
            arm.name,
            measured[arm.name].word or "go on",
            measured[arm.name].difference,
            measured[arm.name].more,
            (arm.missing, arm.trials),
            arm.bounds,
        )
        for arm in report.arms
        if not arm.is_reference
    ]
    is_over = report.state == "over"
    last = [each for each in report.looks if each.look == report.looks_made]
    is_early = is_over and 0 < report.looks_made < report.looks_planned
    return write_trial(
        TrialAnswer(
            MEASURES[report.primary],
            report.reference,
            report.smallest,
            variants,
            (reference.missing, reference.trials),
            report.factors,
            report.whole_tasks,
            report.planned_tasks,
            is_over,
            (report.looks_made, report.looks_planned, max(each.tasks for each in last)) if is_early else None,
            report.next_look,
            report.budget_share,
        )
    )


def table_rows(report: Report, measures: Sequence[MeasureName] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the cells for each variant and measure, in the columns of `HEADS`. The primary measure comes
    first.

    Measures that are equal in all variants are left out, unless `measures` or the plan names further
    measures.
    """
    for name in measures or dict.fromkeys(
        arm_measure.measure for arm in report.arms for arm_measure in arm.measures
    ):
        rates = {
            arm_measure.rate
            for arm in report.arms
            for arm_measure in arm.measures
            if arm_measure.measure == name
        }
        is_named = name in (report.primary, *report.secondary, *measures)
        if not is_named and (report.secondary or len(rates) == 1):
            continue
        for arm in report.arms:
            yield from (
                _row(report, arm, arm_measure) for arm_measure in arm.measures if arm_measure.measure == name
            )


def factor_rows(report: Report) -> Iterator[tuple[str, ...]]:
    """Yield the cells for each comparison of a setting, in the columns of `FACTOR_HEADS`."""
    measure = MEASURES[report.primary]
    for comparison in report.factors:
        for measured in (comparison.overall, *comparison.within):
            where = name_place(measured) or "everywhere, each place with equal weight"
            difference = describe_difference(measure, measured)
            yield (
                f"{comparison.factor} {_show(comparison.value)} *",
                _show(comparison.against),
                where,
                difference,
                _word(measured.word),
            )


def markdown_report(report: Report) -> str:
    """Return the report as Markdown (`report.md`)."""
    parts = [f"# {escape_markdown(report.name or report.run)}"]
    if report.question:
        parts.append(f"*{escape_markdown(report.question)}*")
    parts.append("\n".join(f"- {escape_markdown(line)}" for line in answer_lines(report)))
    parts.append("\n".join(_markdown_table(HEADS, table_rows(report))))
    if report.factors:
        parts.append("\n".join(_markdown_table(FACTOR_HEADS, factor_rows(report))))
    if _has_unplanned(report):
        parts.append(_UNPLANNED)
    parts.append("\n".join(f"- {escape_markdown(line)}." for line in detail_lines(report)))
    for title, lines in (("Warnings", report.warnings), ("Not known", report.unknown)):
        if lines:
            parts += [f"## {title}", "\n".join(f"- {escape_markdown(line)}." for line in lines)]
    return "\n\n".join(parts) + "\n"


def detail_lines(report: Report) -> Iterator[str]:
    """Yield the details below the table of results: costs, reasons for stopped variants, shared settings."""
    for arm in report.arms:
        parts = [f"{arm.trials:,} trials", f"{arm.calls:,} calls"]
        parts += [f"{arm.missing:,} without a reply"] * bool(arm.missing)
        parts += [f"{arm.misses:,} without a recorded answer"] * bool(arm.misses)
        if arm.tokens is not None:
            parts.append(f"{arm.tokens:,} tokens")
        parts.append("cost unknown" if arm.cost is None else f"{_money(arm.cost)} USD")
        if arm.per_right is not None:
            parts.append(f"{_money(arm.per_right)} USD per right answer")
        elif arm.per_ok is not None:
            parts.append(f"{_money(arm.per_ok)} USD per successful trial")
        yield f"{arm.name}: {', '.join(parts)}"
    yield "The same for all variants: " + ", ".join(
        f"{key} {_show(value)}" for key, value in report.held.items() if key != "adds_template" or not value
    )
    for key, values in report.differing.items():
        yield f"Not the same: {key} ({', '.join(map(_show, values))})"


def unplanned_note(report: Report) -> str | None:
    """Return the sentence about measures that are not in the plan, or None if the plan has all measures."""
    return _UNPLANNED.replace("\\", "") if _has_unplanned(report) else None


def format_value(measure: Measure, value: float) -> str:
    """Return a value of a measure with its unit: 4.1%, 1,204 tokens, 0.0031 USD."""
    return _bare(measure, value) + ("" if measure.is_share else f" {measure.unit}")


def _bare(measure: Measure, value: float) -> str:
    """Return a formatted value without its unit. Only a percent sign stays."""
    if measure.is_share:
        return f"{100 * value:.1f}%"
    return _money(value) if measure.unit == "USD" else f"{value:,.0f}"


def format_difference(measure: Measure, value: float) -> str:
    """Return a formatted difference with its sign: −7.7 points."""
    bare = _bare(measure, abs(value)).removesuffix("%")
    # A value that rounds to 0 has no sign.
    sign = "" if not bare.strip("0.,") else "−" if value < 0 else "+"
    return f"{sign}{bare} {'points' if measure.is_share else measure.unit}"


def escape_markdown(text: str) -> str:
    """Return a string on one line, with the special characters of Markdown and HTML escaped."""
    # An underscore inside a word needs no escape, nor does a bracket without an address.
    return re.sub(r"([\\`*<>|~]|(?<!\w)_|_(?!\w)|\](?=[(\[:]))", r"\\\1", " ".join(text.split()))


def describe_difference(measure: Measure, difference: MeasuredDifference | FactorDifference) -> str:
    """Return a formatted difference with its interval: −7.7 points [−11.9, −3.6]."""
    low, high = (
        format_difference(measure, end).removesuffix(" points").removesuffix(f" {measure.unit}")
        for end in (difference.low, difference.high)
    )
    return f"{format_difference(measure, difference.estimate)} [{low}, {high}]"


def _row(report: Report, arm: ArmReport, arm_measure: ArmMeasure) -> tuple[str, ...]:
    measure = MEASURES[arm_measure.measure]
    mark = "" if arm_measure.is_planned else " *"
    total = _bare(measure, arm_measure.k) if arm_measure.measure == "cost" else f"{arm_measure.k:,.0f}"
    counts = f"{total} / {arm_measure.n:,.0f} {measure.tried}"
    rate = "–" if arm_measure.rate is None else format_value(measure, arm_measure.rate)
    if arm_measure.low is not None and arm_measure.high is not None:
        rate += f" [{_bare(measure, arm_measure.low)}, {_bare(measure, arm_measure.high)}]"
    difference = "reference" if arm.is_reference else "–"
    if arm_measure.difference is not None:
        difference = describe_difference(measure, arm_measure.difference)
    return arm.name, arm_measure.measure + mark, counts, rate, difference, _describe_word(report, arm_measure)


def _describe_word(report: Report, arm_measure: ArmMeasure) -> str:
    if arm_measure.word == "alike":
        return _alike(report)
    more = f", {_more_tasks(arm_measure.more)}" if arm_measure.more else ""
    return f"{_word(arm_measure.word)}{more}" if arm_measure.word else ""


def _more_tasks(number: int) -> str:
    return f"about {number:,} more task{'' if number == 1 else 's'}"


def _word(word: Decision | str) -> str:
    return {"go on": "no verdict yet", "alike": "equivalent", "not decided": "no clear difference"}.get(
        word, word
    )


def _alike(report: Report) -> str:
    smallest = format_difference(MEASURES[report.primary], report.smallest)
    return f"equivalent within {smallest.lstrip('+')}"


def _has_unplanned(report: Report) -> bool:
    return bool(report.factors) or any(row[1].endswith("*") for row in table_rows(report))


def _markdown_table(heads: Sequence[str], rows: Iterator[tuple[str, ...]]) -> Iterator[str]:
    for row in (heads, ("---",) * len(heads)):
        yield f"| {' | '.join(row)} |"
    for row in rows:
        yield f"| {' | '.join(map(escape_markdown, row))} |"


def _money(amount: float) -> str:
    """Return an amount of money with two decimals, or with more decimals if three significant digits need
    them.

    Amounts below a billionth are rounding errors and count as 0.
    """
    places = 2 - floor(log10(abs(amount))) if amount else 2
    return f"{amount:,.{min(9, max(2, places))}f}"


def _show(value: object) -> str:
    return "none" if value is None else str(value)


def report_run(root: Path) -> Report:
    """Write the report of a trial run into its folder. Return the report. Raises FolderError and OSError."""
    report = make_report(read_run(root))
    write_report(root, report)
    return report


def write_report(root: Path, report: Report) -> None:
    """Write report.json and report.md, each atomically. Raises OSError."""
    folder = RunFolder(root)
    data = {**report.to_data(), "answer": answer_lines(report)}
    _replace(folder.report, orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    _replace(folder.report_text, markdown_report(report).encode())


def _replace(path: Path, content: bytes) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
