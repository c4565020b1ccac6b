"""The command `callgauge mcp-servers`: compares the MCP servers of a store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from callgauge.cli import render
from callgauge.cli.options.days_option import DaysText, read_calls
from callgauge.cli.options.store_option import Store

if TYPE_CHECKING:
    from callgauge.analysis.comparisons.mcp_servers import ServerComparison, ServerScore
    from callgauge.analysis.measures.slices import Slice

_NAMED = 5  # never called tools that the text lists


def mcp_servers(
    store: Store,
    days: DaysText = None,
    form: Annotated[
        Literal["text", "json"], typer.Option("--format", help="The format of the answer.")
    ] = "text",
) -> None:
    """Compare the MCP servers of a store.

    Prints failures, rejections, latency and the definitions that no model uses. A tool name of the form
    mcp__SERVER__TOOL names the server. Tools without a server come last; in JSON, their server is null.
    Exits with 1 if the store cannot be read.
    """
    with read_calls(store, days, texts=False) as (reader, chosen):
        # A top-level import would load DuckDB for every command.
        from callgauge.analysis.comparisons.mcp_servers import compare_servers

        comparison = compare_servers(reader.ask, chosen.parameters)
    if form == "json":
        servers = [_describe_score(score) for score in comparison.servers]
        answer = {"sentence": comparison.sentence, "notes": comparison.notes, "servers": servers}
        print(render.to_json(answer))
        return
    print(render.describe_days(chosen.describe_days()))
    for line in _list_lines(comparison):
        print(render.escape_for_terminal(line))


def _list_lines(comparison: ServerComparison) -> Iterator[str]:
    from callgauge.analysis import wording

    yield comparison.sentence
    yield from comparison.notes
    for score in comparison.servers:
        name = wording.one_line(score.name, 60) if score.is_server else "Tools without an MCP server"
        yield ""
        yield f"{name}: {wording.plural(score.calls, 'call')}"
        yield from (f"  {line}" for line in _list_figures(score))


def _list_figures(score: ServerScore) -> Iterator[str]:
    from callgauge.analysis import wording
    from callgauge.analysis.comparisons.mcp_servers import RATE_NAMES
    from callgauge.analysis.measures.rates import RATES

    for name in RATE_NAMES:
        slice_ = score.slices.get(name)
        yield f"{RATES[name].title.lower():22}{_write_rate(slice_) if slice_ else 'not measured'}"
    latency = score.latency
    times = "not measured"
    if latency and latency.p50 is not None and latency.p95 is not None:
        median, slow = (wording.duration(each / 1000) for each in (latency.p50, latency.p95))
        times = f"p50 {median}, p95 {slow}, {latency.basis}"
    yield f"{'latency':22}{times}"
    if score.tokens_per_step is None:
        yield f"{'definitions':22}no log lists these tools"
        return
    offered = wording.plural(len(score.offered), "tool")
    yield f"{'definitions':22}{offered}, about {score.tokens_per_step:,} tokens per step"
    if score.unused:
        names = [wording.one_line(tool.name, 60) for tool in score.unused[:_NAMED]]
        more = len(score.unused) - len(names)
        listed = ", ".join([*names, f"{more} more"] if more else names)
        yield f"{'never called':22}{listed}; about {score.unused_tokens_per_step:,} tokens per step"


def _write_rate(slice_: Slice) -> str:
    """Return a rate with its interval, k / n and the share that was not measured."""
    from callgauge.analysis import wording

    share = slice_.share
    if not share.n:
        return "not measured"
    counts = wording.fraction(share.k, share.n)
    measured = wording.known_share(share.n, slice_.total, slice_.rate.noun)
    if not slice_.is_solid:
        return f"{counts}, too little data for a rate, {measured}"
    return f"{wording.rate(share.k, share.n)} ({wording.interval(share.interval)}), {counts}, {measured}"


def _describe_score(score: ServerScore) -> dict[str, Any]:
    from callgauge.analysis.comparisons.mcp_servers import RATE_NAMES
    from callgauge.api.questions.answers import describe_slice

    latency = score.latency
    return {
        "server": score.name if score.is_server else None,
        "calls": score.calls,
        **{name: describe_slice(score.slices[name]) if name in score.slices else None for name in RATE_NAMES},
        "latency_ms": {"p50": latency.p50, "p95": latency.p95, "n": latency.n} if latency else None,
        "definition_tokens_per_step": score.tokens_per_step,
        "never_called_tokens_per_step": score.unused_tokens_per_step,
        "tools": [
            {
                "tool": tool.name,
                "calls": tool.calls,
                "offered_steps": tool.steps,
                "tokens": tool.tokens,
                "never_called": tool.is_unused,
            }
            for tool in score.tools
        ],
    }
