"""Draws which conditions of a trial run differ between variants, and the results of the probes."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from callgauge.analysis import wording
from callgauge.analysis.measures.trials import RunResults, TrialRun
from callgauge.analysis.verdicts import trials
from callgauge.dashboard import store_queries
from callgauge.dashboard.components import cards
from callgauge.dashboard.components.table import Cell, Column, draw_table
from callgauge.stats.task_pairs import MOST_MISSING

Row = Mapping[Hashable, Any]
_COMPARED = ("model", "prompt", "definitions", "strategy", "compensations", "policy")
_SHOWN = 60
_CAPABILITIES = {
    "supports_tool_use": "Native tool calls",
    "supports_parallel_tools": "Parallel calls",
    "json_stability": "JSON",
    "tool_id_pattern": "Ids of calls",
    "allows_midturn_system": "System messages within a turn",
    "keeps_argument_text": "Arguments as the model wrote them",
    "streams_calls": "Calls in streams",
}


def draw_conditions(run: TrialRun, results: RunResults) -> None:
    """Draw the conditions of a trial run. Conditions that differ between variants come first."""
    with cards.draw_card("Conditions", "trial_conditions", height=420):
        rows: Sequence[Row] = store_queries.ask("trial_conditions", run=run.run).to_dict("records")
        if not rows:
            st.caption("No trial has ended yet.")
            return
        by_arm = {str(row["arm"]): row for row in rows}
        conditions = [
            *(
                (name.capitalize(), {arm: _planned(run, arm, name) for arm in run.arm_names})
                for name in _COMPARED
            ),
            *_list_observed(run, by_arm),
        ]
        cells = [_condition_row(title, values) for title, values in conditions if any(values.values())]
        cells.sort(key=lambda row: row[1].text == "Equal")
        columns = [Column("Condition", "name"), Column("Variants", "tight"), Column("Values", "text")]
        draw_table("conditions", "Conditions by variant", columns, [*cells, *_same_for_all(run)])
        _draw_shares(run, results)


def _planned(run: TrialRun, arm: str, name: str) -> str:
    value = next((variant.get(name) for variant in run.arms if variant.get("name") == arm), None)
    return "" if value is None else str(value)


def _list_observed(run: TrialRun, by_arm: Mapping[str, Row]) -> Iterable[tuple[str, dict[str, str]]]:
    for title, column in (
        ("Sampling", "samplings"),
        ("Agent", "harnesses"),
        ("Parser version", "parsers"),
        ("Tools offered", "tools"),
        ("Host", "providers"),
    ):
        yield (
            title,
            {
                arm: ", ".join(
                    _write_value(each) for each in by_arm[arm][column] or () if each not in (None, "")
                )
                for arm in run.arm_names
                if arm in by_arm
            },
        )
    yield (
        "Hours (UTC)",
        {
            arm: f"{by_arm[arm]['first_at']:%Y-%m-%d %H:%M} to {by_arm[arm]['last_at']:%H:%M}"
            for arm in run.arm_names
            if arm in by_arm and by_arm[arm]["first_at"] and by_arm[arm]["last_at"]
        },
    )


def _write_value(value: Any) -> str:
    """Return an observed value as text, such as “temperature 0.7, max_tokens 1024”."""
    text = str(value)
    if not text.startswith("{"):
        return text
    try:
        fields = json.loads(text)
    except ValueError:
        return text
    return ", ".join(f"{name} {field}" for name, field in sorted(fields.items()))


def _condition_row(title: str, values: Mapping[str, str]) -> list[Cell]:
    different = set(values.values())
    if len(different) == 1:
        return [Cell(title), Cell("Equal", tone="calm"), Cell(wording.one_line(different.pop(), 200))]
    lines = [
        f"{trials.name_arm(arm)}: {wording.one_line(value or 'none', _SHOWN)}"
        for arm, value in values.items()
    ]
    return [Cell(title), Cell("Differ", tone="info"), Cell(lines[0], sub="\n".join(lines[1:]))]


def _same_for_all(run: TrialRun) -> list[list[Cell]]:
    """Return the rows of conditions that all variants share, such as tasks, seed, servers and versions."""
    servers = ", ".join(
        f"{name}: {' '.join(str(endpoint.get(key)) for key in ('wire', 'server') if endpoint.get(key))}"
        for name, endpoint in run.endpoints.items()
    )
    versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
    facts = {
        "Tasks": f"{run.tasks:,}, in one order for all variants, {wording.plural(run.repeats, 'repeat')}",
        "Seed of the order": "" if run.seed is None else str(run.seed),
        "Steps at most": "" if run.max_steps is None else str(run.max_steps),
        "Endpoints": servers,
        "Versions": versions,
    }
    return [
        [Cell(title), Cell("Equal", tone="calm"), Cell(wording.one_line(text, 200))]
        for title, text in facts.items()
        if text
    ]


def _draw_shares(run: TrialRun, results: RunResults) -> None:
    """Draw how often something other than the model may have made a variant look worse.

    Possible causes are calls without a recorded result, missing replies and repeated requests.
    """
    columns = [
        Column("Variant", "name"),
        Column("No reply", "cell", "Trials that got no reply from the endpoint; they are not measured"),
        Column("Results not recorded", "cell", "Simulated results without a matching recorded answer"),
        Column("Requests repeated", "number", "After network errors"),
        Column("Only this variant", "number", "Tasks without a trial of the reference"),
    ]
    against = set(results.by_arm.get(run.reference, {}))
    rows = []
    for name in run.arm_names:
        tried = [task for several in results.by_arm.get(name, {}).values() for task in several]
        rows.append(
            [
                Cell(trials.name_arm(name), order=name),
                _share_cell(sum(task.no_reply for task in tried), len(tried)),
                _share_cell(sum(task.misses for task in tried), sum(task.simulated for task in tried)),
                Cell(f"{sum(task.resent for task in tried):,}"),
                Cell(f"{len(set(results.by_arm.get(name, {})) - against):,}"),
            ]
        )
    draw_table("shares", "Not due to the model", columns, rows)


def _share_cell(k: int, n: int) -> Cell:
    if not n:
        return Cell("–", title="None", values={"": None})
    is_much = k / n > MOST_MISSING
    return Cell(
        wording.rate(k, n),
        sub=wording.fraction(k, n),
        tone="warn" if is_much else None,
        order=k / n,
        values={"": k / n, "k": k, "n": n},
    )


def draw_probes(run: TrialRun) -> None:
    """Draw the card with the capabilities of each model, and whether they were probed or declared."""
    with cards.draw_card("Model probes", "trial_probes", height=240):
        rows: Sequence[Row] = store_queries.ask("trial_probes", run=run.run).to_dict("records")
        if not rows:
            st.caption("No model was probed, and nothing was declared.")
            return
        by_model = {row["model"]: _read_object(row["capabilities"]) for row in rows}
        names = [
            name for name in _CAPABILITIES if any(name in capabilities for capabilities in by_model.values())
        ]
        columns = [
            Column("Model", "name"),
            Column("Probe", "tight"),
            *(Column(_CAPABILITIES[name]) for name in names),
        ]
        cells = [
            [
                Cell(
                    wording.one_line(str(row["model"]), 60),
                    sub=_text(row["provider"]),
                    order=str(row["model"]),
                ),
                _probe_cell(row),
                *(_capability_cell(by_model[row["model"]].get(name)) for name in names),
            ]
            for row in rows
        ]
        draw_table("probes", "Capabilities of each model", columns, cells)


def _text(value: Any) -> str | None:
    return wording.one_line(str(value), 40) if value else None


def _read_object(text: str | None) -> Mapping[str, Any]:
    try:
        value = json.loads(text or "{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _probe_cell(row: Row) -> Cell:
    if row["ok"] is None:
        return Cell("None", tone="calm", title="Not probed: the plan declares it")
    if row["ok"]:
        return Cell("A native call", tone="good")
    return Cell("No native call", tone="warn", sub=_text(row["error"]))


def _capability_cell(capability: Any) -> Cell:
    if not isinstance(capability, dict) or capability.get("value") is None:
        return Cell("not known", pale=True)
    value = capability["value"]
    text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
    if isinstance(text, dict):
        text = ", ".join(f"{name.replace('_', ' ')} {each}" for name, each in text.items())
    return Cell(wording.one_line(str(text), 60), sub=_text(capability.get("known_by")))
