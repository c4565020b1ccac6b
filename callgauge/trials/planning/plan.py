"""The data classes of a trial plan, which `plan_file` reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec

from callgauge.checked_files.field_types import Choice, ListOf, Number, Text
from callgauge.checked_files.file_problems import CheckedFileError
from callgauge.gateway import Capabilities
from lenient import Policy, ToolCatalog

MeasureName = Literal["refused", "mended", "right", "turn_ok", "tokens", "cost"]
StrategyChoice = Literal["auto", "tool_use", "json_fallback"]
MEASURES = Choice(get_args(MeasureName))
ABOVE_ZERO = Number(0, is_above=True)


class PlanError(CheckedFileError):
    """Raised when a plan, or a file that the plan names, has mistakes."""


class MeasurePlan(msgspec.Struct, frozen=True):
    """The measures of a trial run, fixed before the first trial. The expected values are used only for
    planning.
    """

    primary: Annotated[MeasureName, MEASURES, f"What decides: one of {', '.join(MEASURES.words)}."]
    smallest: Annotated[
        float,
        ABOVE_ZERO,
        "The smallest difference worth knowing: a share (0.05 is five points), or tokens, or USD.",
    ]
    reference: Annotated[
        str | None, Text(), "The variant to compare the others with. Default: the first."
    ] = None
    looks: Annotated[
        int,
        Number(1, 20, is_whole=True),
        "The number of interim analyses, at which the run may stop; 1: only at the end.",
    ] = 5
    alpha: Annotated[
        float, Number(0, 0.5, is_above=True), "The chance of reporting a difference where there is none."
    ] = 0.05
    secondary: Annotated[
        tuple[MeasureName, ...],
        ListOf(MEASURES, fewest=0),
        "Other measures to report; they do not decide the verdict.",
    ] = ()
    expected_rate: Annotated[
        float | None,
        Number(0, 1),
        "For planning: the rate of the reference, as far as it is known, as a share.",
    ] = None
    expected_spread: Annotated[
        float | None,
        ABOVE_ZERO,
        "For planning: the standard deviation of a trial's tokens, or of its cost in USD.",
    ] = None
    expected_correlation: Annotated[
        float,
        Number(0, 1, is_below=True),
        "For planning: the expected correlation of two variants over tasks; 0 needs the most tasks.",
    ] = 0.0


class Budget(msgspec.Struct, frozen=True):
    """The limits of a trial run. The run stops at the first limit that it reaches. None means no limit."""

    cost: Annotated[float | None, ABOVE_ZERO, "USD; needs a price for every model."] = None
    tokens: Annotated[int | None, Number(1, is_whole=True), "Tokens read and written, over all variants."] = (
        None
    )
    minutes: Annotated[float | None, ABOVE_ZERO, "Minutes by the clock."] = None


@dataclass(frozen=True, slots=True)
class EndpointPlan:
    """A model server. `key_variable` is the name of the environment variable that contains the API key."""

    name: str
    wire: str
    url: str
    key_variable: str | None = None
    server: str | None = None
    stream: bool = True
    concurrency: int = 4
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


class TokenPrice(msgspec.Struct, frozen=True):
    """The price of a model in USD per million tokens.

    `source` is `plan`, or the name of the built-in price list.
    """

    input: Annotated[float, Number(0), "USD a million tokens read."]
    output: Annotated[float, Number(0), "USD a million tokens written."]
    cached: Annotated[
        float | None, Number(0), "USD a million tokens read from the cache; else as `input`."
    ] = None
    source: str = "plan"

    def cost(self, read: float, written: float, cached: float = 0) -> float:
        """Return the cost in USD of a model's input tokens, output tokens, and input tokens from a cache."""
        from_cache = self.input if self.cached is None else self.cached
        return ((read - cached) * self.input + cached * from_cache + written * self.output) / 1e6


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """A model and the name that the endpoint uses for the model. The keys of `body` override the keys of each
    request.
    """

    name: str
    endpoint: str
    model: str
    sampling: Mapping[str, float | int] = field(default_factory=dict)
    price: TokenPrice | None = None
    capabilities: Capabilities = field(default_factory=Capabilities)
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PromptPlan:
    """A system prompt, with the id that the logs use for the prompt."""

    key: str
    text: str
    name: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class ToolSource:
    """Where a tool's results come from: `recorded` results, a Python `function`, or an MCP `server`."""

    kind: Literal["recorded", "function", "server"]
    target: str | None = None
    default: str | None = None


@dataclass(frozen=True, slots=True)
class ServerPlan:
    """An MCP server: a command with its arguments, or a URL."""

    name: str
    command: tuple[str, ...] = ()
    url: str | None = None
    environment: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TrialArm:
    """One of the variants that a trial run compares.

    `name` is unique in the plan and safe as a folder name.
    """

    name: str
    model: str
    prompt: str | None
    definitions: str | None
    strategy: StrategyChoice = "auto"
    compensations: int = 1
    policy: Policy = Policy.SAFE
    adds_template: bool = True


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The settings that all trials share. `timeout` is the limit for one tool call, in seconds."""

    repeats: int = 1
    seed: int = 0
    max_steps: int = 8
    takes_lossy: bool = False
    timeout: float = 60.0


@dataclass(frozen=True, slots=True)
class Plan:
    """A valid plan. `path` is the plan's file. Paths in the plan are relative to the folder of this file."""

    path: Path
    name: str
    question: str
    measure: MeasurePlan
    run: RunPlan
    budget: Budget
    endpoints: Mapping[str, EndpointPlan]
    models: Mapping[str, ModelPlan]
    prompts: Mapping[str, PromptPlan]
    definitions: Mapping[str, ToolCatalog]
    tools: Mapping[str, ToolSource]
    servers: Mapping[str, ServerPlan]
    arms: tuple[TrialArm, ...]
    tasks_path: Path
    tasks_format: str | None = None
    text: str = ""

    @property
    def reference(self) -> TrialArm:
        """The variant that all other variants are compared with: by default the first variant of the plan."""
        return next((arm for arm in self.arms if arm.name == self.measure.reference), self.arms[0])
