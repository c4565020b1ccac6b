"""Measures how many tool calls in plain text are read as intended, in every notation, with mistakes."""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from bench.parser.scoring import Tally, Verdict, same
from bench.parser.tables import table
from bench.written_calls.texts import TOOLS, WrittenText, make_texts
from lenient import TextCall, ToolCatalog, extract_tool_calls

SEED, ROUNDS = 20, 2
CATALOG = ToolCatalog.load(list(TOOLS))


@dataclass(frozen=True, slots=True)
class JudgedText:
    """The result for one reply, with or without a known dialect: the tool calls read, and the verdict.

    `unsaid` is True when a delimiter token or the end of the reply is missing and the parser did not report
    the loss.
    """

    written: WrittenText
    with_dialect: bool
    found: tuple[TextCall, ...]
    verdict: Verdict
    unsaid: bool


def judge_text(written: WrittenText, *, with_dialect: bool) -> JudgedText:
    """Read a reply and compare the found tool calls with the intended tool calls."""
    calls = extract_tool_calls(written.text, CATALOG, dialect=written.dialect if with_dialect else None)
    return JudgedText(written, with_dialect, calls, _give_verdict(written, calls), _is_unsaid(written, calls))


def _give_verdict(written: WrittenText, calls: tuple[TextCall, ...]) -> Verdict:
    arguments = [call.request.arguments for call in calls]
    if len(calls) == len(written.calls) and all(
        call.name == intended.name and same(intended.arguments, got)
        for call, intended, got in zip(calls, written.calls, arguments, strict=True)
    ):
        return Verdict.RIGHT
    if not any(got is not None for got in arguments):
        return Verdict.REFUSED
    return Verdict.TOLD if any(map(_warns, calls)) else Verdict.SILENT


def _warns(call: TextCall) -> bool:
    findings = (*call.request.diagnostics, *call.diagnostics)
    return (
        not call.complete
        or call.request.parse_error is not None
        or any(finding.lossy for finding in findings)
    )


def _is_unsaid(written: WrittenText, calls: tuple[TextCall, ...]) -> bool:
    if not (written.unopened or written.cut) or not calls:
        return False
    return all(call.complete and not call.request.diagnostics and not call.diagnostics for call in calls)


def judge_texts(seed: int = SEED, rounds: int = ROUNDS) -> list[JudgedText]:
    """Judge all replies of a seed, with and without a known dialect."""
    return [
        judge_text(written, with_dialect=with_dialect)
        for with_dialect in (True, False)
        for written in make_texts(seed, rounds)
    ]


def share_tables(judged: Iterable[JudgedText]) -> list[str]:
    """Return Markdown tables by dialect, by mistake and by the content of the values."""
    judgements, lines = list(judged), list[str]()
    for title, group in _GROUPS.items():
        lines += [f"### Calls written as text, by {title}", "", *_share_table(title, judgements, group), ""]
    return lines


def _share_table(title: str, judged: list[JudgedText], group: Callable[[JudgedText], str]) -> list[str]:
    """Return one row per group: the number of replies, and the percentages of right and silently wrong
    results.

    Both percentages are given with and without a known dialect.
    """
    tallies, unsaid = defaultdict[tuple[str, bool], Tally](Tally), defaultdict[str, int](int)
    for judgement in judged:
        for name in (group(judgement), "all"):
            tallies[name, judgement.with_dialect].add(judgement.verdict)
            unsaid[name] += judgement.unsaid
    rows = []
    for name in sorted(unsaid, key=lambda name: (name == "all", name)):
        counted = [tallies[name, with_dialect] for with_dialect in (True, False)]
        shares = [f"{tally.share(kind):.1%}" for tally in counted for kind in (Verdict.RIGHT, Verdict.SILENT)]
        rows.append([name, str(counted[0].total), *shares, str(unsaid[name])])
    titles = ("texts", "given: right", "wrong, silent", "not given: right", "wrong, silent", "unreported")
    return table((title, *titles), rows)


_GROUPS: dict[str, Callable[[JudgedText], str]] = {
    "dialect": lambda judgement: judgement.written.dialect,
    "slip": lambda judgement: judgement.written.slip,
    "what the values hold": lambda judgement: judgement.written.holds,
}


def main(options: list[str]) -> int:
    """Print the tables by dialect, by mistake and by content of the values.

    `--show` prints the replies that are read incorrectly.
    """
    parser = argparse.ArgumentParser(prog="bench written_calls", description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--show", action="store_true")
    parsed = parser.parse_args(options)
    judged = judge_texts(parsed.seed, parsed.rounds)
    print("\n".join(share_tables(judged)))
    if parsed.show:
        for judgement in judged:
            if judgement.verdict is not Verdict.RIGHT or judgement.unsaid:
                _show(judgement)
    return 0


def _show(judgement: JudgedText) -> None:
    written = judgement.written
    dialect = "with the dialect" if judgement.with_dialect else "without the dialect"
    print(f"\n--- {written.id} ({written.holds}), {dialect}: {judgement.verdict}")
    print(written.text)
    for intended in judgement.written.calls:
        print(f"  meant {intended.name} {intended.arguments}")
    for call in judgement.found:
        codes = [each.code for each in (*call.request.diagnostics, *call.diagnostics)]
        print(f"  read  {call.name} {call.request.arguments} [{call.dialect}] whole={call.complete} {codes}")
