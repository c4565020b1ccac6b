"""Calls that a model wrote as text, in every notation and with slips: how many are read as meant."""

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
    """One text, told its dialect or not: the calls read, and the verdict.

    `unsaid` is True when a token or the text's end is missing, and nothing was said.
    """

    written: WrittenText
    told: bool
    found: tuple[TextCall, ...]
    verdict: Verdict
    unsaid: bool


def judge_text(written: WrittenText, *, told: bool) -> JudgedText:
    """Read a text and hold the calls found against those meant."""
    found = extract_tool_calls(written.text, CATALOG, dialect=written.dialect if told else None)
    return JudgedText(written, told, found, _give_verdict(written, found), _is_unsaid(written, found))


def _give_verdict(written: WrittenText, found: tuple[TextCall, ...]) -> Verdict:
    arguments = [call.request.arguments for call in found]
    if len(found) == len(written.calls) and all(
        call.name == meant.name and same(meant.arguments, got)
        for call, meant, got in zip(found, written.calls, arguments, strict=True)
    ):
        return Verdict.RIGHT
    if not any(got is not None for got in arguments):
        return Verdict.REFUSED
    return Verdict.TOLD if any(map(_warns, found)) else Verdict.SILENT


def _warns(call: TextCall) -> bool:
    findings = (*call.request.diagnostics, *call.diagnostics)
    return not call.complete or call.request.parse_error is not None or any(one.lossy for one in findings)


def _is_unsaid(written: WrittenText, found: tuple[TextCall, ...]) -> bool:
    """Return True when the text lacks a token or its end, and no call says anything at all."""
    if not (written.unopened or written.cut) or not found:
        return False
    return all(call.complete and not call.request.diagnostics and not call.diagnostics for call in found)


def judge_texts(seed: int = SEED, rounds: int = ROUNDS) -> list[JudgedText]:
    """Judge all texts of a seed, once told their dialect and once not."""
    return [judge_text(one, told=told) for told in (True, False) for one in make_texts(seed, rounds)]


def share_tables(judged: Iterable[JudgedText]) -> list[str]:
    """Return Markdown tables by dialect, by slip and by what the values hold."""
    held, lines = list(judged), list[str]()
    for title, group in _GROUPS.items():
        lines += [f"### Calls written as text, by {title}", "", *_share_table(title, held, group), ""]
    return lines


def _share_table(title: str, judged: list[JudgedText], group: Callable[[JudgedText], str]) -> list[str]:
    """One row a group: its texts, and what was right and silent, told the dialect and not."""
    tallies, unsaid = defaultdict[tuple[str, bool], Tally](Tally), defaultdict[str, int](int)
    for one in judged:
        for name in (group(one), "all"):
            tallies[name, one.told].add(one.verdict)
            unsaid[name] += one.unsaid
    rows = []
    for name in sorted(unsaid, key=lambda name: (name == "all", name)):
        counted = [tallies[name, told] for told in (True, False)]
        shares = [f"{one.share(kind):.1%}" for one in counted for kind in (Verdict.RIGHT, Verdict.SILENT)]
        rows.append([name, str(counted[0].total), *shares, str(unsaid[name])])
    titles = ("texts", "given: right", "wrong, silent", "not given: right", "wrong, silent", "unreported")
    return table((title, *titles), rows)


_GROUPS: dict[str, Callable[[JudgedText], str]] = {
    "dialect": lambda one: one.written.dialect,
    "slip": lambda one: one.written.slip,
    "what the values hold": lambda one: one.written.holds,
}


def main(options: list[str]) -> int:
    """Print the tables by dialect, slip and what values hold; `--show` prints the texts read otherwise."""
    parser = argparse.ArgumentParser(prog="bench written_calls", description=__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args(options)
    judged = judge_texts(asked.seed, asked.rounds)
    print("\n".join(share_tables(judged)))
    if asked.show:
        for one in judged:
            if one.verdict is not Verdict.RIGHT or one.unsaid:
                _show(one)
    return 0


def _show(one: JudgedText) -> None:
    print(f"\n--- {one.written.id} ({one.written.holds}) told={one.told}: {one.verdict}")
    print(one.written.text)
    for meant in one.written.calls:
        print(f"  meant {meant.name} {meant.arguments}")
    for call in one.found:
        codes = [each.code for each in (*call.request.diagnostics, *call.diagnostics)]
        print(f"  read  {call.name} {call.request.arguments} [{call.dialect}] whole={call.complete} {codes}")
