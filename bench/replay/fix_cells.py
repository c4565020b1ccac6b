"""Simulates the proposals of `fix-definition`: stores without a fault of a definition, and with five faults.

All models make random errors at all parameters: 0.5 to 3 % of the values, with a rate of its own for each
model and each parameter. In every third store, one more model makes 5 to 15 % errors. Sessions of about six
calls have their own rates (standard deviation 1 on the logit scale).
"""

from __future__ import annotations

import json
import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from callgauge.analysis.replay.definition_fixes import FixSearch
from callgauge.analysis.replay.fix_results import ToolFixes

if TYPE_CHECKING:
    from bench.statistics.cells import Cell

MOST_FALSE = 0.05
SIZES = (60, 200, 600)  # sessions per store
_CALLS = 6  # mean number of calls per session
_SESSION_SD = 1.0
_WORDS = ("alpha", "beta", "gamma", "delta", "report", "invoice", "north", "south")
_WRONG: Mapping[str, tuple[Any, ...]] = {
    "integer": ("12", "7", "30s", 2.5, "many"),
    "number": ("1.5", "20", "5 min", "half"),
    "boolean": ("true", "yes", 1),
    "string": (12, 3.5, ["alpha"]),
    "array": ("alpha", '["alpha"]'),
    "enum": ("other", "none", "all", "first", "latest"),
}
FAULTS = {
    "accept_type:limit",
    'add_enum_value:order:"random"',
    "name_unit:timeout",
    "type_example:page",
    "drop_parameter:trace",
}
"""The keys of the edits for the five planted faults."""


@dataclass(slots=True)
class MadeStore:
    """A store in memory. `ask` answers the metrics that `FixSearch` needs."""

    definitions: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: list[dict[str, Any]] = field(default_factory=list)

    def ask(self, metric: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        tools = parameters.get("tools") or list(self.definitions)
        if metric == "fixable_tools":
            counts = Counter(call["sent"] for call in self.calls)
            return [
                {"tool": tool, "calls": counts[tool], "servers": [], "definitions": 1}
                for tool in tools
                if counts[tool]
            ]
        if metric == "definitions":
            return [{**self._row(tool), "source": "codex"} for tool in tools]
        if metric == "replayed_definition":
            return [self._row(parameters["definition"].removeprefix("d-"))]
        return [call for call in self.calls if call["sent"] in tools]

    def _row(self, tool: str) -> dict[str, Any]:
        return {
            "tool": tool, "description": f"Runs {tool}.", "definition": json.dumps(self.definitions[tool]),
        }  # fmt: skip

    def find_all(self) -> dict[str, ToolFixes]:
        """Return the result of each tool."""
        return {result.tool: result for result in FixSearch(self.ask, {}).find_all()}


def cells(draws: int, *, whole: bool, seed: int) -> Iterator[Cell]:
    """Yield how often stores without faults get a proposal, and how often the five faults are found."""
    from bench.statistics.cells import Cell  # `bench.statistics` imports this module

    for sessions in SIZES if whole else SIZES[:2]:
        chance = random.Random(f"{seed} {sessions}")
        stores = [name_proposals(make_store(chance, sessions)) for _ in range(draws)]
        false = sum(bool(keys) for keys in stores)
        setting = f"{sessions} sessions"
        yield Cell("stores without a fault that get an edit", setting, false, draws, most=MOST_FALSE)
    for sessions in (200, 600) if whole else (600,):
        chance = random.Random(f"{seed} {sessions} faults")
        several = [name_proposals(make_store(chance, sessions, is_faulty=True)) for _ in range(draws // 4)]
        setting = f"{sessions} sessions, 5 faults"
        exact = sum(keys == FAULTS for keys in several)
        more = sum(bool(keys - FAULTS) for keys in several)
        yield Cell("stores with five faults that get exactly these edits", setting, exact, len(several))
        yield Cell(
            "stores with five faults that get another edit", setting, more, len(several), most=MOST_FALSE
        )


def name_proposals(store: MadeStore) -> set[str]:
    """Return the keys of all proposed edits."""
    return {fix.key for result in store.find_all().values() for fix in result.fixes}


def make_store(chance: random.Random, sessions: int, *, is_faulty: bool = False) -> MadeStore:
    """Return a store with three to six tools and two to four models, with or without the five faults."""
    store = MadeStore({f"tool{number}": _make_schema(chance) for number in range(chance.randint(3, 6))})
    if is_faulty:
        store.definitions["search"] = FAULTY
    models = {f"model{number}": chance.uniform(0.5, 1.5) for number in range(chance.randint(2, 4))}
    noise = {
        (model, tool, name): min(0.03, max(0.005, quality * chance.uniform(0.004, 0.025)))
        for model, quality in models.items()
        for tool, schema in store.definitions.items()
        for name in schema["properties"]
    }
    if chance.random() < 1 / 3:
        models["sloppy"] = 1.0
        noise |= {
            ("sloppy", tool, name): chance.uniform(0.05, 0.15)
            for tool, schema in store.definitions.items()
            for name in schema["properties"]
        }
    planted = {model: {name: chance.uniform(0.08, 0.25) for name in _PLANTED} for model in models}
    used = {
        (tool, name): 1.0 if name in schema["required"] else chance.uniform(0.2, 0.9)
        for tool, schema in store.definitions.items()
        for name in schema["properties"]
    }
    for session in range(sessions):
        model, shift = chance.choice(list(models)), chance.gauss(0, _SESSION_SD)
        for _ in range(1 + int(chance.expovariate(1 / (_CALLS - 0.5)))):
            tool = chance.choice(list(store.definitions))
            rates = {
                name: _shift(noise[model, tool, name], shift)
                for name in store.definitions[tool]["properties"]
            }
            sent = {
                name: _make_value(chance, declared, rates[name])
                for name, declared in store.definitions[tool]["properties"].items()
                if chance.random() < used[tool, name]
            }
            if tool == "search":
                _plant_faults(
                    chance, sent, {name: _shift(rate, shift) for name, rate in planted[model].items()}
                )
            store.calls.append(make_row(len(store.calls), session, model, tool, sent))
    return store


def _shift(rate: float, shift: float) -> float:
    """Return a rate moved on the logit scale, with about the same mean over all sessions."""
    odds = rate / (1 - rate) * math.exp(shift - _SESSION_SD**2 / 2)
    return odds / (1 + odds)


_NAMES = ["count", "size", "ratio", "name", "query", "path", "flag", "tags", "mode", "depth"]


def _make_schema(chance: random.Random) -> dict[str, Any]:
    names = chance.sample(_NAMES, 5)
    kinds: dict[str, dict[str, Any]] = {
        "count": {"type": "integer"}, "size": {"type": "integer"}, "depth": {"type": "integer"},
        "ratio": {"type": "number"}, "flag": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "mode": {"type": "string", "enum": ["fast", "slow", "exact"]},
    }  # fmt: skip
    properties = {
        name: {**kinds.get(name, {"type": "string"}), "description": f"What the run does for {name}s."}
        for name in names
    }
    return {"type": "object", "properties": properties, "required": names[: chance.randint(1, 4)]}


FAULTY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to look for."},
        "limit": {"type": "integer", "description": "How many hits to return."},
        "rank": {"type": "integer", "description": "Where to begin."},
        "order": {"type": "string", "enum": ["newest", "oldest"], "description": "How hits are sorted."},
        "timeout": {"type": "integer", "description": "How long to wait."},
        "page": {"type": "integer", "description": "Which page.", "examples": ["3"]},
        "trace": {"type": "boolean", "description": "Whether to log each comparison."},
    },
    "required": ["query", "limit", "rank", "order", "timeout", "page"],
}
"""The definition with the five planted faults."""
_PLANTED = ("limit", "order", "timeout", "page")


def _plant_faults(chance: random.Random, sent: dict[str, Any], rates: Mapping[str, float]) -> None:
    sent.pop("trace", None)
    wrong = {
        "limit": str(chance.randint(1, 50)), "order": "random", "page": str(chance.randint(1, 9)),
        "timeout": f"{chance.randint(1, 90)}s",
    }  # fmt: skip
    sent.update({name: value for name, value in wrong.items() if chance.random() < rates[name]})


def _make_value(chance: random.Random, declared: Mapping[str, Any], rate: float) -> Any:
    kind = "enum" if "enum" in declared else declared["type"]
    if chance.random() < rate:
        return chance.choice(_WRONG[kind])
    right = {
        "integer": chance.randint(1, 90), "number": chance.random(), "boolean": chance.random() < 0.5,
        "string": chance.choice(_WORDS), "array": [chance.choice(_WORDS)],
    }  # fmt: skip
    return chance.choice(declared["enum"]) if kind == "enum" else right[kind]


def make_row(number: int, session: int, model: str, tool: str, sent: Any) -> dict[str, Any]:
    """Return a call as a row of the metric `replayed_calls`."""
    return {
        "call_id": f"c{number}", "session_id": f"s{session}", "ts": None, "model": model, "sent": tool,
        "args_source": "raw", "raw_arguments": json.dumps(sent), "refused_by_harness": None,
        "result_fault_layer": None, "definition_id": f"d-{tool}", "offered": True, "outcome": "clean",
        "codes": None,
    }  # fmt: skip
