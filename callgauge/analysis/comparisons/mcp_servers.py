"""Compares MCP servers: failures, rejections, latency, and the cost of definitions that no model uses."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from callgauge.analysis import wording
from callgauge.analysis.comparisons.strata_queries import Ask
from callgauge.analysis.measures.latency import Latency, read_latencies
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.verdicts.tools import ToolVerdict, judge_tools, write_tools

NO_SERVER = "none"
"""The value of the dimension for tools that belong to no MCP server."""
RATE_NAMES = ("execution", "parse_error", "tool_rejected", "refused")
_JUDGED = ("execution", "parse_error")  # the rates of the sentence
_DIMENSION = "mcp_server"
Row = Mapping[Hashable, Any]


@dataclass(frozen=True, slots=True)
class ServerTool:
    """One tool of a server.

    `steps` is the number of steps that were offered the tool, or 0 if no log lists it as offered. `tokens` is
    the size of its definition in each of these steps, or None. `spent` is the sum over these steps.
    """

    name: str
    calls: int
    steps: int
    tokens: int | None
    spent: int

    @property
    def is_unused(self) -> bool:
        """True when models were offered the tool and never called it."""
        return self.steps > 0 and not self.calls


@dataclass(frozen=True, slots=True)
class ServerScore:
    """The figures of one MCP server, or of all tools without a server (NO_SERVER).

    `slices` maps the name of each rate to the slice of the server. `calls` is the number of its calls.
    `steps` is the number of steps in which the server's tools, or any tools for NO_SERVER, were offered.
    """

    name: str
    calls: int
    slices: Mapping[str, Slice]
    latency: Latency | None
    tools: Sequence[ServerTool]
    steps: int

    @property
    def is_server(self) -> bool:
        return self.name != NO_SERVER

    @property
    def offered(self) -> list[ServerTool]:
        """The tools that a log lists as offered."""
        return [tool for tool in self.tools if tool.steps]

    @property
    def unused(self) -> list[ServerTool]:
        """The tools that were offered and never called."""
        return [tool for tool in self.tools if tool.is_unused]

    @property
    def spent(self) -> int:
        """The tokens of all definitions of the server in all steps together."""
        return sum(tool.spent for tool in self.tools)

    @property
    def tokens_per_step(self) -> int | None:
        """The tokens per step of all its tools. None if no log lists its tools as offered."""
        return round(self.spent / self.steps) if self.steps else None

    @property
    def unused_tokens_per_step(self) -> int | None:
        """The tokens per step of its never called tools. None if no log lists its tools as offered."""
        return round(sum(tool.spent for tool in self.unused) / self.steps) if self.steps else None


@dataclass(frozen=True, slots=True)
class ServerComparison:
    """All MCP servers, the most called first, and tools without a server last.

    `sentence` says which server fails most often, and what the never called tools cost. `notes` says what the
    logs do not show.
    """

    servers: Sequence[ServerScore]
    sentence: str
    notes: Sequence[str]

    @property
    def has_servers(self) -> bool:
        return any(score.is_server for score in self.servers)


def compare_servers(ask: Ask, chosen: Mapping[str, Any]) -> ServerComparison:
    """Return the MCP servers of the chosen calls side by side. Raises MetricError."""
    rows = ask("slices", rates=(*RATE_NAMES, "defined"), by=_DIMENSION, **chosen)
    slices: dict[str, dict[str, Slice]] = {}
    for each in make_slices(rows):
        slices.setdefault(each.name, {})[each.rate.name] = each
    tools: dict[str, list[Row]] = {}
    for row in ask("offered_tools", **chosen).to_dict("records"):
        tools.setdefault(row[_DIMENSION] or NO_SERVER, []).append(row)
    latencies = {
        each.slice: each
        for each in read_latencies(ask("latency", by=_DIMENSION, **chosen))
        if each.kind == "tool"
    }
    scores = [
        _make_score(name, slices.get(name, {}), latencies.get(name), tools.get(name, ()))
        for name in {*slices, *tools}
    ]
    scores.sort(key=lambda score: (not score.is_server, -score.calls, score.name))
    return ServerComparison(scores, _write_sentence(scores), _list_notes(scores))


def _make_score(
    name: str, slices: Mapping[str, Slice], latency: Latency | None, rows: Sequence[Row]
) -> ServerScore:
    tools = [
        ServerTool(row["tool"] or "unknown", row["calls"], row["steps"], row["tokens"], row["spent"])
        for row in rows
    ]
    # A step that was offered a tool of the server was usually offered all of its tools.
    column = "all_steps" if name == NO_SERVER else "steps"
    steps = max((row[column] for row in rows if row["steps"]), default=0)
    calls = max((slice_.total for slice_ in slices.values()), default=0)
    return ServerScore(name, calls, slices, latency, tools, steps)


def _write_sentence(scores: Sequence[ServerScore]) -> str:
    servers = [score for score in scores if score.is_server]
    if not servers:
        return (
            "No call and no offered tool names an MCP server. Callgauge reads the server from tool names of "
            "the form mcp__SERVER__TOOL."
        )
    measured = [
        score.slices[name] for score in servers for name in ("parse_error", "defined") if name in score.slices
    ]
    verdicts = [
        judge_tools([score.slices[name] for score in servers if name in score.slices], measured)
        for name in _JUDGED
    ]
    sentences = [_describe_only_server(verdicts)]
    if not sentences[0]:
        sentences = list(dict.fromkeys(write_tools(verdict, noun="MCP server") for verdict in verdicts))
    return " ".join(filter(None, [*sentences, _describe_unused(servers)]))


def _describe_only_server(verdicts: Sequence[ToolVerdict]) -> str:
    """Return the rates of the only server with enough data. Return "" if more or fewer servers have it."""
    judged = [slice_ for verdict in verdicts for slice_ in verdict.judged]
    if len({slice_.name for slice_ in judged}) != 1:
        return ""
    rates = [
        f"{slice_.rate.phrase} {slice_.share.k:,} of {wording.plural(slice_.share.n, slice_.rate.noun)} "
        f"({wording.rate(slice_.share.k, slice_.share.n)})"
        for slice_ in judged
    ]
    name = wording.one_line(judged[0].name, 60)
    return f"Only {name} has enough data for its rates: {wording.list_words(rates)}."


def _describe_unused(servers: Sequence[ServerScore]) -> str:
    """Return what the never called tools of all servers cost per step that was offered one of them."""
    with_unused = [score for score in servers if score.unused]
    if not with_unused:
        return ""
    count = sum(len(score.unused) for score in with_unused)
    were = "was" if count == 1 else "were"
    most = max(with_unused, key=lambda score: (score.unused_tokens_per_step or 0, score.name))
    tools = f"{wording.plural(count, 'tool')} of {wording.plural(len(with_unused), 'MCP server')}"
    costs = f"{most.unused_tokens_per_step or 0:,} tokens per step"
    name = wording.one_line(most.name, 60)
    if len(with_unused) == 1:
        return f"{wording.plural(count, 'tool')} of {name} {were} never called and cost about {costs}."
    return f"{tools} {were} never called; those of {name} cost most, about {costs}."


def _list_notes(scores: Sequence[ServerScore]) -> list[str]:
    servers = [score for score in scores if score.is_server]
    if not servers:
        return []
    notes = []
    if not any(score.steps for score in servers):
        notes.append(
            "No log lists the offered tools of these servers, so their definitions and never called tools "
            "are not known."
        )
    if not any(score.latency and score.latency.n for score in servers):
        notes.append("No log has the latency of these calls.")
    names: dict[str, set[str]] = {}
    for score in servers:
        for tool in score.tools:
            names.setdefault(tool.name, set()).add(score.name)
    shared = sorted(name for name, owners in names.items() if len(owners) > 1)
    if shared:
        listed = wording.list_words([wording.one_line(name, 40) for name in shared[:3]])
        more = f" and {len(shared) - 3} more" if len(shared) > 3 else ""
        notes.append(
            f"Several servers have a tool with the same name ({listed}{more}); each server's calls of it are "
            "counted separately."
        )
    return notes
