"""The pytest plugin: a store gate that runs with the tests, and a fixture that checks recorded calls.

pytest imports this module in every session, so the module imports the rest of Callgauge only on use.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from callgauge.recorded_calls import CheckedCalls, Definitions

CheckCalls = Callable[..., "CheckedCalls"]
_JUDGED = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("callgauge", "compare the newest days of a Callgauge store with a baseline")
    group.addoption("--callgauge-store", metavar="DIR", help="The store. Needs the next two options.")
    group.addoption(
        "--callgauge-baseline", metavar="NAME|DAYS", help="A saved baseline or days, as in `callgauge gate`."
    )
    group.addoption(
        "--callgauge-no-worse",
        action="append",
        metavar="[RATE=]SIZE",
        help="Fail the session if the rate is worse than the baseline by SIZE, such as 0.02, 2%% or "
        "retried=0.05. The usual rate is parse_error. Repeatable.",
    )
    group.addoption("--callgauge-days", metavar="DAYS", help="The days to test. [default: 7 days]")
    group.addoption(
        "--callgauge-require-data", action="store_true", help="Fail also if there is not enough data."
    )


def pytest_configure(config: pytest.Config) -> None:
    names = ("store", "baseline", "no_worse", "days", "require_data")
    options = {name: config.getoption(f"callgauge_{name}") for name in names}
    # An xdist worker does nothing, because the controller process runs the gate.
    if not any(options.values()) or hasattr(config, "workerinput"):
        return
    for name in ("store", "baseline", "no_worse"):
        if not options[name]:
            others = ", ".join(f"--callgauge-{each.replace('_', '-')}" for each in options if options[each])
            raise pytest.UsageError(f"{others} needs --callgauge-{name.replace('_', '-')}, too")
    from callgauge.report.store_gate import read_rate_margin
    from callgauge.stats.gate_syntax import GateSyntaxError

    gates = [f"no-worse{':' if '=' in text else '='}{text}" for text in options["no_worse"]]
    try:
        for gate in gates:
            read_rate_margin(gate)
    except GateSyntaxError as problem:
        raise pytest.UsageError(f"--callgauge-no-worse: {problem}") from None
    store = config.invocation_params.dir / Path(options["store"]).expanduser()
    judge = SessionGate(
        store, gates, options["baseline"], options["days"] or "7 days", options["require_data"]
    )
    config.pluginmanager.register(judge, "callgauge-gate")


class SessionGate:
    """Judges a store after the tests, and fails the test session when the slice is worse."""

    def __init__(self, store: Path, gates: list[str], baseline: str, days: str, needs_data: bool) -> None:
        self._store = store
        self._gates = gates
        self._baseline = baseline
        self._days = days
        self._needs_data = needs_data
        self._lines: list[str] = []

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int | pytest.ExitCode) -> None:
        if exitstatus not in _JUDGED or session.config.getoption("collectonly"):
            return
        is_passed = self._judge()
        if not is_passed and exitstatus != pytest.ExitCode.TESTS_FAILED:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _judge(self) -> bool:
        from callgauge.analysis import wording
        from callgauge.documents.gate_text import write_sentence, write_where
        from callgauge.memory.memory_file import MemoryProblemError
        from callgauge.report.content.morning_report import ReportError
        from callgauge.report.store_gate import explain_gate, judge_gates
        from callgauge.stats.gate_syntax import GateSyntaxError

        try:
            results = judge_gates(self._store, self._gates, self._baseline, self._days, {})
        except (GateSyntaxError, ReportError, MemoryProblemError) as problem:
            self._lines = [f"FAILED {wording.one_line(str(problem), 500)}"]
            return False
        is_passed = True
        for result in results:
            fails = result.verdict == "worse" or (self._needs_data and result.verdict != "not worse")
            is_passed = is_passed and not fails
            word = "FAILED" if fails else "passed" if result.verdict == "not worse" else "not judged"
            text = explain_gate(result)
            words = f"{word} {write_sentence(text)} {write_where(text)}"
            self._lines.append(wording.one_line(words, 2_000))
        return is_passed

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._lines:
            terminalreporter.section("callgauge gate")
            for line in self._lines:
                terminalreporter.write_line(line)


@pytest.fixture
def callgauge_check_calls() -> CheckCalls:
    """Return a function that fails the test when recorded tool calls do not fit their definitions.

    Usage: `callgauge_check_calls(calls, definitions, policy="lenient")`. `calls` is a list of calls or
    messages in any provider's format, or the path of a log file. `definitions` are tool definitions or the
    path of a file. The function returns the number of checked calls.
    """

    def check_calls(
        calls: str | os.PathLike[str] | Iterable[Any], definitions: Definitions, policy: str = "lenient"
    ) -> CheckedCalls:
        __tracebackhide__ = True
        from callgauge.recorded_calls import RecordedCallsError, check_recorded_calls

        checked = None
        try:
            checked = check_recorded_calls(calls, definitions, policy)
            problems = checked.describe()
        except RecordedCallsError as unreadable:
            problems = str(unreadable)
        if checked is None or problems:
            pytest.fail(problems, pytrace=False)
        return checked

    return check_calls
