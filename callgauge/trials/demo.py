"""Writes the files of `callgauge trial demo`: a plan, tool definitions and tasks."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from callgauge.trials.planning.plan import Plan
from callgauge.trials.toy_model import MONTHS, TOOL, write_date

PLAN = "plan.toml"
_TASKS = 100
_STATES = ("open", "shipped", "cancelled")
_CUSTOMERS = (
    *("Acme Corp", "Initech", "Umbrella GmbH", "Stark & Sons", "Wayne Ltd", "Globex", "Soylent", "Hooli"),
    *("Vandelay Imports", "Duff Brewing", "Tyrell", "Cyberdyne", "Wonka", "Oscorp"),
)
_PLAN = """# Made by `callgauge trial demo`. Change it, or the files next to it, and run the demo again.
# The "models" are scripts on this machine that make random mistakes from a seed.

name = "demo: does a better definition help?"
question = "Are fewer calls invalid if the definition shows how to write dates and states?"

[measure]
primary = "refused"        # calls that no tool can run
smallest = 0.10            # the smallest difference of interest: ten points
reference = "toy-quick+old"
looks = 4                  # the number of interim analyses, at which the run may stop early
secondary = ["right", "mended", "cost"]

[run]
seed = 7
accept = "safe"

[endpoints.toy]
wire = "openai-chat"
url = "http://127.0.0.1:{port}/v1"
concurrency = 4

[models.toy-quick]
endpoint = "toy"
model = "toy-quick"
sampling = {{ max_tokens = 200 }}
price = {{ input = 0.10, output = 0.40 }}      # USD a million tokens, made up
[models.toy-careful]
endpoint = "toy"
model = "toy-careful"
sampling = {{ max_tokens = 200 }}
price = {{ input = 1.00, output = 4.00 }}

[prompts.agent]
version = "1"
text = "You look up orders for a sales team."

[definitions.old]
files = ["orders-old.json"]
[definitions.new]
files = ["orders-new.json"]

[tools.list_orders]
answers = "recorded"
default = "orders none"

[tasks]
file = "tasks.jsonl"

[arms]                      # every model with every definition
models = ["toy-quick", "toy-careful"]
prompts = ["agent"]
definitions = ["old", "new"]
"""


def write_demo(folder: Path, port: int) -> None:
    """Write the demo files that do not exist yet. `port` is the port of the toy model. Raises OSError.

    Each file is written completely or not at all. After an error, a folder that this call created is removed.
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with TemporaryDirectory(prefix=".writing-", dir=folder) as staged:
            for name, text in _demo_files(port):
                (Path(staged) / name).write_text(text, encoding="utf-8")
            for name, _ in _demo_files(port):
                if not (folder / name).exists():
                    (Path(staged) / name).replace(folder / name)
    except OSError:
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        raise


def _demo_files(port: int) -> tuple[tuple[str, str], ...]:
    tasks = "".join(f"{json.dumps(task)}\n" for task in make_demo_tasks())
    return (
        ("orders-old.json", _write_definition(says_how=False)),
        ("orders-new.json", _write_definition(says_how=True)),
        ("tasks.jsonl", tasks),
        (PLAN, _PLAN.format(port=port)),
    )


def toy_port(plan: Plan) -> int | None:
    """Return the port of the plan's toy model on this machine. Return None when the plan has no toy model."""
    for endpoint in plan.endpoints.values():
        parts = urlsplit(endpoint.url)
        if endpoint.name == "toy" and parts.hostname == "127.0.0.1":
            return parts.port
    return None


def make_demo_tasks() -> list[dict[str, Any]]:
    """Return the demo tasks as JSON objects of a task file. Every call returns the same tasks."""
    drawn = random.Random("demo")  # noqa: S311 no secret
    return [_make_task(number, drawn) for number in range(1, _TASKS + 1)]


def _make_task(number: int, drawn: random.Random) -> dict[str, Any]:
    customer, status = drawn.choice(_CUSTOMERS), drawn.choice(_STATES)
    due_date = f"{drawn.randint(1, 28)} {drawn.choice(MONTHS)} {drawn.choice((2026, 2027))}"
    limit = drawn.randint(2, 30)
    wanted = {"customer": customer, "status": status, "due_before": write_date(due_date), "limit": limit}
    orders = ", ".join(f"A-{drawn.randint(1000, 9999)}" for _ in range(drawn.randint(1, 3)))
    return {
        "id": f"orders-{number:03}",
        "input": f"List the {status} orders of {customer} that are due before {due_date}, at most {limit}.",
        "expect": {"calls": [{TOOL: {name: [value] for name, value in wanted.items()}}]},
        "answers": [{"tool": TOOL, "when": wanted, "result": f"orders {orders}"}],
    }


def _write_definition(*, says_how: bool) -> str:
    date: Mapping[str, Any] = {"type": "string", "format": "date"}
    status: Mapping[str, Any] = {"type": "string"}
    if says_how:
        date = {**date, "description": "Only orders due before this day, ISO 8601: 2026-11-24."}
        status = {**status, "enum": list(_STATES), "description": "The state of the orders."}
    definition = {
        "name": TOOL,
        "description": "List orders of a customer.",
        "input_schema": {
            "type": "object",
            "properties": {
                "customer": {"type": "string"},
                "status": status,
                "due_before": date,
                "limit": {"type": "integer", "description": "How many orders at most."},
            },
            "required": ["customer", "status", "due_before"],
            "additionalProperties": False,
        },
    }
    return json.dumps([definition], indent=2) + "\n"
