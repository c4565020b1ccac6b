"""Files of a `callgauge trial` run: the run's description and its interim analyses.

**Files.** In the folder of a run (`callgauge.trials.results.run_folder`): `lock.json`, one object with
`"callgauge_trial": 1`, and `looks.jsonl`, one interim analysis of one variant per line. The conversations are
in `sessions/` and `probes.jsonl` as session logs, which `session_history` reads.

**Fields.** `lock.json`: `run` (the run's name, in every session as `meta.trial.run`), `name`, `question`,
`created_at`, `measure`, `budget`, `run_plan`, `arms` (the variants), `tasks` (ids in the order of the run),
`look_at`, `boundaries` and more. `looks.jsonl`: the fields of `ArmLook`, including `run`.

**Rules.**
- `looks.jsonl` grows while the run continues. A run that continues after a stop may repeat an interim
  analysis; the later of two lines about the same analysis and variant counts.
- `ledger.jsonl` and `report.json` contain nothing new, so nothing is read from them. `spent.jsonl` (the cost
  of each request), `plan.toml` and `report.md` are accepted together with `lock.json`, so that no load lists
  them as rejected.

**Not in the log.** Whether the run has ended: a stopped run has fewer sessions than planned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ingest.decoding.fields import json_type, read_object, read_objects, read_text, read_time
from ingest.decoding.lines import SNIPPET_READ, make_snippet
from ingest.events import Event, Rejected, TrialLookTaken, TrialRunPlanned
from ingest.log_format import About, Record, Source, Translator

SOURCE = Source(
    name="trial_run",
    title="Runs of trials (callgauge trial)",
    raw_arguments="no: they are in the sessions of the run",
    argument_failures="no: they are in the sessions of the run",
    error_flag="no: they are in the sessions of the run",
    definitions="no: they are in the sessions of the run",
    system_prompt="no: they are in the sessions of the run",
    model="yes: for each variant",
    turn_end="no: they are in the sessions of the run",
    cannot_tell="Whether the run is finished. It has the plan and interim analyses, not the calls.",
)

_LOCK, _MARK = "lock.json", "callgauge_trial"
_VERSION = 1
_LOOK = {"look", "arm", "decision", "boundary", "statistic"}
_OUTCOME = {"arm", "task", "repeat", "status", "refused", "mended"}
_REPORT_MARK = "callgauge_trial_report"
_READ_WITH_LOCK = frozenset(
    {"plan.toml", "ledger.jsonl", "looks.jsonl", "report.json", "report.md", "spent.jsonl"}
)
_LARGEST = 2**63


def recognise(head: Sequence[dict[str, Any]]) -> bool:
    if not head:
        return False
    keys = head[0].keys()
    return _MARK in keys or _REPORT_MARK in keys or keys >= _LOOK or keys >= _OUTCOME


def read_with(about: About) -> str | None:
    """Return `lock.json` for a file of a trial run that is read together with `lock.json`.

    Return None for other files.
    """
    if about.name not in _READ_WITH_LOCK:
        return None
    return _LOCK if f'"{_MARK}"'.encode() in (about.read_sibling(_LOCK) or b"") else None


def translator(_about: About) -> Translator:
    return _RunFile()


class _RunFile:
    """Translates the records of a trial run's files. Records of any other kind are skipped."""

    def take(self, record: Record) -> Iterable[Event | Rejected]:
        if _MARK in record.value:
            return _read_lock(record)
        return _read_look(record) if "look" in record.value else ()

    def finish(self) -> Iterable[Event | Rejected]:
        return ()

    def close(self) -> None:
        pass


class _Fields:
    """Reads the fields of an object, each as one type, and remembers fields of a wrong type."""

    def __init__(self, value: Mapping[str, Any], within: str = "") -> None:
        self._value = value
        self._within = within
        self.wrong: list[str] = []

    def _read(self, name: str, wanted: str, *, fits: bool) -> Any:
        value = self._value.get(name)
        if fits or value is None:
            return value
        self.wrong.append(f"{self._within}{name} is no {wanted}")
        return None

    def text(self, name: str) -> str | None:
        text: str | None = self._read(name, "string", fits=isinstance(self._value.get(name), str))
        return text or None

    def number(self, name: str) -> float | None:
        value = self._read(name, "number", fits=_is_number(self._value.get(name)))
        return None if value is None else float(value)

    def count(self, name: str) -> int | None:
        count: int | None = self._read(name, "whole number", fits=_is_count(self._value.get(name)))
        return count

    def numbers(self, name: str) -> list[float] | None:
        numbers: list[float] | None = self._read(
            name, "list of numbers", fits=self._is_list(name, _is_number)
        )
        return numbers

    def counts(self, name: str) -> list[int] | None:
        fits = self._is_list(name, _is_count)
        counts: list[int] | None = self._read(name, "list of whole numbers", fits=fits)
        return counts

    def texts(self, name: str) -> list[str] | None:
        texts: list[str] | None = self._read(name, "list of strings", fits=self._is_list(name, _is_text))
        return texts

    def object(self, name: str) -> dict[str, Any] | None:
        value = self._value.get(name)
        fields: dict[str, Any] | None = self._read(name, "object", fits=isinstance(value, dict))
        return fields

    def _is_list(self, name: str, is_item: Callable[[Any], bool]) -> bool:
        value = self._value.get(name)
        return isinstance(value, list) and all(map(is_item, value))

    def within(self, name: str) -> _Fields:
        inner = _Fields(read_object(self.object(name)), f"{name}.")
        inner.wrong = self.wrong
        return inner


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _LARGEST


def _read_lock(record: Record) -> Iterator[Event | Rejected]:
    value = record.value
    if value[_MARK] != _VERSION:
        version = str(value[_MARK])[:20] if _is_count(value[_MARK]) else json_type(value[_MARK])
        reason = f"{_MARK} is {version}; this Callgauge reads version {_VERSION}: load it with a newer one"
        yield _reject(record, "wrong_type", reason)
        return
    run, arms = read_text(value.get("run")), read_objects(value.get("arms"))
    names = [name for arm in arms if (name := read_text(arm.get("name")))]
    if not run or not names or len(names) != len(arms):
        lacking = "run" if not run else "arms" if not arms else "the name of a variant"
        yield _reject(record, "missing_field", f"a trial's lock without {lacking}; the run is not listed")
        return
    lock = _Fields(value)
    measure, planned, budget = lock.within("measure"), lock.within("run_plan"), lock.within("budget")
    tasks = lock.texts("tasks")
    facts = {
        "run": run,
        "name": lock.text("name"),
        "question": lock.text("question"),
        "primary_measure": measure.text("primary"),
        "smallest": measure.number("smallest"),
        "alpha": measure.number("alpha"),
        "reference": measure.text("reference") or names[0],
        "looks": measure.count("looks"),
        "expected_rate": measure.number("expected_rate"),
        "secondary": measure.texts("secondary"),
        "tasks": None if tasks is None else len(tasks),
        "repeats": planned.count("repeats"),
        "seed": planned.count("seed"),
        "max_steps": planned.count("max_steps"),
        "look_at": lock.counts("look_at"),
        "boundaries": lock.numbers("boundaries"),
        "budget_cost": budget.number("cost"),
        "budget_tokens": budget.count("tokens"),
        "budget_minutes": budget.number("minutes"),
        "arms": arms,
        "task_order": tasks,
        "task_groups": lock.object("groups"),
        "definitions": lock.object("definitions"),
        "prices": lock.object("prices"),
        "endpoints": lock.object("endpoints"),
        "versions": lock.object("versions"),
        "hashes": lock.object("hashes"),
    }
    ts = read_time(value.get("created_at"))
    yield TrialRunPlanned(session_id=run, where=record.where, ts=ts, facts=facts)
    if lock.wrong:
        yield _reject(record, "wrong_type", f"{'; '.join(lock.wrong)[:SNIPPET_READ]}: stored as unknown")


def _read_look(record: Record) -> Iterator[Event | Rejected]:
    look = _Fields(record.value)
    facts = {
        "run": look.text("run"),
        "look": look.count("look"),
        "arm": look.text("arm"),
        "decision": look.text("decision"),
        "tasks": look.count("tasks"),
        "planned": look.count("planned"),
        **{name: look.number(name) for name in ("estimate", "low", "high", "statistic", "boundary")},
        "missing": look.count("missing"),
    }
    lacking = [name for name in ("run", "look", "arm", "decision") if facts[name] is None]
    if lacking:
        yield _reject(
            record, "missing_field", f"an interim analysis of a trial without {' and '.join(lacking)}"
        )
        return
    ts = read_time(record.value.get("at"))
    yield TrialLookTaken(session_id=str(facts["run"]), where=record.where, ts=ts, facts=facts)
    if look.wrong:
        yield _reject(record, "wrong_type", f"{'; '.join(look.wrong)[:SNIPPET_READ]}: stored as unknown")


def _reject(record: Record, code: str, reason: str) -> Rejected:
    return Rejected(record.where, code, reason, make_snippet(record.data))
