"""Reads a plan from a TOML file, and all files that the plan names. One error lists every mistake."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from callgauge.checked_files.file_problems import quote_value, read_text, suggest_name
from callgauge.checked_files.toml_file import TomlReading
from callgauge.gateway import Capabilities
from callgauge.prices import PriceList
from callgauge.trials.planning.arms import read_arms
from callgauge.trials.planning.plan import (
    Budget,
    EndpointPlan,
    MeasurePlan,
    ModelPlan,
    Plan,
    PlanError,
    PromptPlan,
    RunPlan,
    ServerPlan,
    TokenPrice,
    ToolSource,
    TrialArm,
)
from callgauge.trials.planning.plan_fields import PLAN
from lenient import ToolCatalog, ToolDefinitionError

_MOST_BYTES = 4 << 20  # A prompt file may have at most this many bytes.
_OF_SHARES = ("refused", "mended", "right", "turn_ok")


def read_plan(path: str | Path, today: date | None = None) -> Plan:
    """Return the plan of a TOML file. Paths in the plan are relative to the folder of the file.

    A model without a price gets the built-in list price of the day `today`. The task file is not read. Raises
    PlanError, which lists all mistakes.
    """
    reading = _PlanReading(Path(path), today or datetime.now(UTC).date())
    plan = reading.read()
    if plan is None:
        raise PlanError(reading.problems())
    return plan


class _PlanReading(TomlReading):
    def __init__(self, path: Path, today: date) -> None:
        super().__init__(path, "a plan, a TOML file as docs/trials.md shows it")
        self.today = today

    def read(self) -> Plan | None:
        plan_table = self.read_table(PLAN, {"run": {}, "budget": {}, "arms": {}})
        return None if plan_table is None else self._make_plan(plan_table)

    def _make_plan(self, plan_table: Mapping[str, Any]) -> Plan | None:
        tables: dict[str, Mapping[str, Any]] = {part: plan_table.get(part) or {} for part in _NAMED}
        for part in ("endpoints", "models"):
            if (
                part in plan_table
                and not tables[part]
                and not any(mistake.key[:1] == (part,) for mistake in self.mistakes)
            ):
                self.note((part,), "is empty", f"add [{part}.NAME]")
        self._check_endpoints(tables["models"], tables["endpoints"])
        self._check_tools(tables["tools"], tables["servers"])
        prompts = {name: self._read_prompt(name, table) for name, table in tables["prompts"].items()}
        definitions = {name: self._load(name, table) for name, table in tables["definitions"].items()}
        tasks_path = self._find_tasks(plan_table.get("tasks") or {})
        prices = {name: self._find_price(table) for name, table in tables["models"].items()}
        arms = self._read_arms(plan_table, tables)
        measure, budget = plan_table.get("measure") or {}, plan_table.get("budget") or {}
        self._check_measure(measure, arms)
        self._check_prices(prices, arms, measure, budget)
        if self.mistakes:
            return None
        run = plan_table["run"]
        return Plan(
            path=self.path,
            name=plan_table["name"],
            question=plan_table["question"],
            measure=MeasurePlan(**measure),
            run=RunPlan(run["repeats"], run["seed"], run["max_steps"], run["lossy"], run["timeout"]),
            budget=Budget(**budget),
            endpoints={name: _make_endpoint(name, table) for name, table in tables["endpoints"].items()},
            models={name: _make_model(name, table, prices[name]) for name, table in tables["models"].items()},
            prompts=prompts,
            definitions=definitions,
            tools={name: _make_source(table) for name, table in tables["tools"].items()},
            servers={name: _make_server(name, table) for name, table in tables["servers"].items()},
            arms=arms,
            tasks_path=tasks_path,
            tasks_format=(plan_table.get("tasks") or {}).get("format"),
            text=self.text,
        )

    def _check_endpoints(self, models: Mapping[str, Any], endpoints: Mapping[str, Any]) -> None:
        for name, model in models.items():
            used = model.get("endpoint")
            if used is not None and used not in endpoints:
                key = ("models", name, "endpoint")
                self.note(key, f'[endpoints] has no "{used}"', suggest_name(used, tuple(endpoints)))
            pattern = (model.get("capabilities") or {}).get("tool_id_pattern")
            if pattern is not None and not _is_pattern(pattern):
                what = f"{quote_value(pattern)} is not a regular expression"
                place = ("models", name, "capabilities", "tool_id_pattern")
                self.note(place, what, "write one as Python reads it")

    def _check_tools(self, tools: Mapping[str, Any], servers: Mapping[str, Any]) -> None:
        for name, tool in tools.items():
            used = tool.get("server")
            if used is not None and used not in servers:
                key = ("tools", name, "server")
                self.note(key, f'[servers] has no "{used}"', suggest_name(used, tuple(servers)))
            if tool.get("default") is not None and tool.get("answers") is None:
                key = ("tools", name, "default")
                self.note(
                    key, "a default is for recorded answers", 'add answers = "recorded", or leave it out'
                )
        for name, server in servers.items():
            if server.get("environment") and server.get("command") is None:
                key = ("servers", name, "environment")
                self.note(key, "variables go to a program", "add `command`, or leave them out")

    def _read_prompt(self, name: str, table: Mapping[str, Any]) -> PromptPlan:
        text = table.get("text") or ""
        if table.get("file") is not None:
            try:
                text = read_text(self.path.parent / table["file"], _MOST_BYTES)
            except ValueError as problem:
                what = f"{self.path.parent / table['file']} {problem}"
                self.note(("prompts", name, "file"), what, "name a prompt file next to the plan")
        return PromptPlan(name, text, table.get("name") or name, table.get("version"))

    def _load(self, name: str, table: Mapping[str, Any]) -> ToolCatalog:
        catalog = ToolCatalog()
        for place, file in enumerate(table.get("files") or ()):
            key = ("definitions", name, "files", place)
            path = self.path.parent / file
            try:
                loaded = ToolCatalog.load(path)
            except ToolDefinitionError as problem:
                self.note(key, str(problem).rstrip("."), "name a file with tool definitions next to the plan")
                continue
            twice = [*loaded.repeated, *(tool.name for tool in loaded if catalog.get(tool.name) is not None)]
            if twice:
                self.note(key, f"{path} defines {', '.join(twice)} again", "keep one definition a tool")
            if not len(loaded):
                self.note(key, f"{path} defines no tool", "name a file with tool definitions")
            catalog = catalog.overlay(loaded)
        return catalog

    def _find_tasks(self, table: Mapping[str, Any]) -> Path:
        path = self.path.parent / str(table.get("file", ""))
        if "file" in table and not path.is_file():
            what = f"{path} is a folder" if path.is_dir() else f"no such file: {path}"
            self.note(("tasks", "file"), what, "name a task file next to the plan")
        return path

    def _find_price(self, model: Mapping[str, Any]) -> TokenPrice | None:
        if model.get("price") is not None:
            amounts = model["price"]
            complete = {"input", "output"} <= amounts.keys()
            return (
                TokenPrice(amounts["input"], amounts["output"], amounts.get("cached")) if complete else None
            )
        match = PriceList().match(model.get("model", ""))
        prices = [price for price in match.prices if price.from_day <= self.today] if match else []
        if not prices:
            return None
        price = prices[-1]
        source = f"Callgauge's list, {price.model} from {price.from_day}"
        return TokenPrice(price.input, price.output, price.cached_input, source)

    def _read_arms(self, plan_table: Mapping[str, Any], tables: Mapping[str, Any]) -> tuple[TrialArm, ...]:
        run, arms = plan_table.get("run") or {}, plan_table.get("arms")
        if arms is None or not {"compensations", "accept", "template"} <= run.keys():
            return ()
        names = {part: tuple(tables[part]) for part in ("models", "prompts", "definitions")}
        return read_arms(arms, run, names, self.mistakes) if names["models"] else ()

    def _check_measure(self, measure: Mapping[str, Any], arms: tuple[TrialArm, ...]) -> None:
        primary, smallest = measure.get("primary"), measure.get("smallest")
        if primary in _OF_SHARES and smallest is not None and smallest >= 1:
            what = f"{smallest:g} is not a share"
            advice = f"write a share: {smallest / 100:g} is {smallest:g} points"
            self.note(("measure", "smallest"), what, advice)
        if primary is not None and primary in (measure.get("secondary") or ()):
            self.note(("measure", "secondary"), f'"{primary}" is the primary measure', "leave it out here")
        of_others = ("expected_rate",) if primary not in _OF_SHARES else ("expected_spread",)
        for name in of_others:
            if primary is not None and measure.get(name) is not None:
                what = f"is not used with {primary}"
                other = "expected_spread" if name == "expected_rate" else "expected_rate"
                self.note(("measure", name), what, f"write {other}, or leave it out")
        names = [arm.name for arm in arms]
        reference = measure.get("reference")
        if names and reference is not None and reference not in names:
            self.note(
                ("measure", "reference"),
                f'no variant is called "{reference}"',
                suggest_name(reference, names),
            )

    def _check_prices(
        self,
        prices: Mapping[str, TokenPrice | None],
        arms: tuple[TrialArm, ...],
        measure: Mapping[str, Any],
        budget: Mapping[str, Any],
    ) -> None:
        reasons = []
        if budget.get("cost") is not None:
            reasons.append("[budget] caps the cost")
        if "cost" in (measure.get("primary"), *(measure.get("secondary") or ())):
            reasons.append("the cost is measured")
        if not reasons:
            return
        for name in dict.fromkeys(arm.model for arm in arms):
            if prices.get(name) is None:
                advice = (
                    "add price = { input = …, output = … }, USD a million tokens; 0 where it costs nothing"
                )
                self.note(("models", name), f"has no price, and {' and '.join(reasons)}", advice)


_NAMED = ("endpoints", "models", "prompts", "definitions", "tools", "servers")


def _is_pattern(text: str) -> bool:
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


def _make_endpoint(name: str, table: Mapping[str, Any]) -> EndpointPlan:
    key = table["key"]
    return EndpointPlan(
        name=name,
        wire=table["wire"],
        url=table["url"],
        key_variable=key.removeprefix("env:") if key is not None else None,
        server=table["server"],
        stream=table["stream"],
        concurrency=table["concurrency"],
        requests_per_minute=table["requests_per_minute"],
        tokens_per_minute=table["tokens_per_minute"],
    )


def _make_model(name: str, table: Mapping[str, Any], price: TokenPrice | None) -> ModelPlan:
    return ModelPlan(
        name=name,
        endpoint=table["endpoint"],
        model=table["model"],
        sampling={key: value for key, value in (table["sampling"] or {}).items() if value is not None},
        price=price,
        capabilities=Capabilities(**(table["capabilities"] or {})),
        body=table["body"] or {},
    )


def _make_source(table: Mapping[str, Any]) -> ToolSource:
    if table["function"] is not None:
        return ToolSource("function", table["function"])
    if table["server"] is not None:
        return ToolSource("server", table["server"])
    return ToolSource("recorded", default=table["default"])


def _make_server(name: str, table: Mapping[str, Any]) -> ServerPlan:
    return ServerPlan(name, table["command"] or (), table["url"], tuple(table["environment"]))
