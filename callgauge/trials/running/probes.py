"""What a run knows of its models: asked once, kept in `probes.jsonl`, the same for all its trials."""

from __future__ import annotations

from pathlib import Path

import orjson

from callgauge.gateway import Endpoint, Probe, probe_model
from callgauge.gateway.capabilities import read_capabilities
from callgauge.trials.planning.plan import Plan
from callgauge.trials.running.run_files import RunFiles
from callgauge.trials.running.trial_log import LogPrivacy, TrialLog

FULL_QUESTIONS = 5  # to the JSON fallback, of a full probe


async def ask_probe(plan: Plan, model: str, endpoint: Endpoint, *, is_full: bool = False) -> Probe:
    """Ask a model of the plan what it can do; what the plan declares is not asked."""
    its = plan.models[model]
    questions = FULL_QUESTIONS if is_full else 0
    return await probe_model(endpoint, its.model, its.capabilities, json_questions=questions, is_full=is_full)


def save_probe(
    files: RunFiles, path: Path, run: str, plan: Plan, model: str, probe: Probe, privacy: LogPrivacy
) -> None:
    """Append a probe as a session of its own. Raises FolderError."""
    its, endpoint = plan.models[model], plan.endpoints[plan.models[model].endpoint]
    log = TrialLog(path, f"{run}.probe.{probe.id}", privacy)
    log.write(
        "session_start",
        harness={"name": "callgauge-trial"},
        provider=endpoint.name,
        model=its.model,
        capabilities=probe.capabilities.to_log(),
        probe={**probe.to_log(), "model": its.model, "seconds": round(probe.seconds, 3)},
        endpoint={"wire": endpoint.wire, "server": endpoint.server},
        trial={"run": run, "model": model},
    )
    log.write("session_end")
    files.append(path, log.content)


def read_probes(path: Path) -> dict[str, Probe]:
    """Return the probes of a run by the plan's name of the model; the last one of each that was answered."""
    found: dict[str, Probe] = {}
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return found
    for line in lines:
        try:
            meta = orjson.loads(line).get("meta") or {}
            told = meta.get("probe")
            if told and told.get("ok") is not None:
                found[meta["trial"]["model"]] = Probe(
                    told["id"],
                    told["ts"],
                    told["ok"],
                    told.get("error"),
                    read_capabilities(meta.get("capabilities") or {}),
                    told.get("tried", 0),
                    told.get("seconds", 0.0),
                )
        except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError):
            continue  # the half line of a killed process: the model is asked again
    return found
