"""The session logs of a trial run: one log for each trial, and `probes.jsonl` for the probes of the models.

The log of a trial stays in memory until the trial has ended. So the folder never contains an incomplete
conversation.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import orjson

from callgauge.gateway import Endpoint, Probe, probe_model
from callgauge.gateway.capabilities import read_capabilities
from callgauge.gateway.session_log import SessionLog, encode_event
from callgauge.trials.planning.plan import Plan
from callgauge.trials.results.run_folder import TrialOutcome, make_outcome
from callgauge.trials.running.run_files import RunFiles

TRIAL_END = "trial_end"
"""The event after `session_end`. A lost ledger line is restored from the outcome in its `meta`."""
FULL_QUESTIONS = 5  # A full probe tests the JSON fallback with this many questions to the model.


class LogPrivacy(Protocol):
    """Removes private data from the files of a trial run. API keys are removed elsewhere."""

    def clean_server_text(self, text: str) -> str:
        """Return a server's message without strings that look like secrets."""
        ...

    def clean_text(self, text: str) -> str:
        """Return a string without private data."""
        ...

    def clean_event(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return an event of a session log without private data."""
        ...


class NoPrivacy:
    """A LogPrivacy that removes nothing."""

    def clean_server_text(self, text: str) -> str:
        return text

    def clean_text(self, text: str) -> str:
        return text

    def clean_event(self, event: dict[str, Any]) -> dict[str, Any]:
        return event


class TrialLog(SessionLog):
    """A session log in memory. `save` writes the log to its file in one step."""

    def __init__(self, path: Path, session_id: str, privacy: LogPrivacy) -> None:
        super().__init__(path, session_id)
        self._privacy = privacy
        self._lines: list[bytes] = []

    def append(self, event: dict[str, Any]) -> None:
        """Add an event to the log."""
        self._lines.append(encode_event(self._privacy.clean_event(event)))

    @property
    def content(self) -> bytes:
        """The lines of the log so far, as bytes."""
        return b"".join(self._lines)

    def save(self, files: RunFiles, outcome: TrialOutcome | None = None) -> None:
        """Write the log to its file. Raises FolderError."""
        if outcome is not None:
            self.write(TRIAL_END, outcome=asdict(outcome))
        files.replace(self.path, self.content)


def read_saved_outcome(path: Path) -> TrialOutcome | None:
    """Return the outcome at the end of a trial's log. Return None if the log contains no outcome."""
    try:
        last = path.read_bytes().splitlines()[-1]
        outcome = orjson.loads(last)["meta"]["outcome"]
    except (OSError, IndexError, KeyError, TypeError, orjson.JSONDecodeError):
        return None
    return make_outcome(outcome) if isinstance(outcome, dict) else None


async def ask_probe(plan: Plan, model: str, endpoint: Endpoint, *, is_full: bool = False) -> Probe:
    """Probe a model of the plan. Capabilities that the plan declares are not probed."""
    planned_model = plan.models[model]
    questions = FULL_QUESTIONS if is_full else 0
    return await probe_model(
        endpoint, planned_model.model, planned_model.capabilities, json_questions=questions, is_full=is_full
    )


def save_probe(
    files: RunFiles, path: Path, run: str, plan: Plan, model: str, probe: Probe, privacy: LogPrivacy
) -> None:
    """Append a probe as a separate session. Raises FolderError."""
    endpoint = plan.endpoints[plan.models[model].endpoint]
    log = TrialLog(path, f"{run}.probe.{probe.id}", privacy)
    log.write(
        "session_start",
        harness={"name": "callgauge-trial"},
        provider=endpoint.name,
        model=plan.models[model].model,
        capabilities=probe.capabilities.to_log(),
        probe={**probe.to_log(), "model": plan.models[model].model, "seconds": round(probe.seconds, 3)},
        endpoint={"wire": endpoint.wire, "server": endpoint.server},
        trial={"run": run, "model": model},
    )
    log.write("session_end")
    files.append(path, log.content)


def read_probes(path: Path) -> dict[str, Probe]:
    """Return the newest completed probe of each model, by the model's name in the plan."""
    probes: dict[str, Probe] = {}
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return probes
    for line in lines:
        try:
            meta = orjson.loads(line).get("meta") or {}
            logged = meta.get("probe")
            if logged and logged.get("ok") is not None:
                probes[meta["trial"]["model"]] = Probe(
                    logged["id"],
                    logged["ts"],
                    logged["ok"],
                    logged.get("error"),
                    read_capabilities(meta.get("capabilities") or {}),
                    logged.get("tried", 0),
                    logged.get("seconds", 0.0),
                )
        except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError):
            continue  # A killed process left a half-written line, so the model is probed again.
    return probes
