"""Defines the rates that pages show. The tables of the store use the same names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Group = Literal["arguments", "tool", "turn"]
GROUPS: Mapping[Group, str] = {
    "arguments": "Did the model write valid arguments?",
    "tool": "Did the call reach its tool, and did the tool succeed?",
    "turn": "Did the turn succeed, and did it need retries?",
}
"""The groups of rates in the order of pages, each with the question that it answers."""


@dataclass(frozen=True, slots=True)
class RateDefinition:
    """The definition of one rate.

    `noun` is the counted unit, in the singular. `hit` holds the words that describe a hit, after "calls
    that". `better` says whether a low or a high rate is better, or is None if neither is better. `calls`
    holds the URL parameters with which the Calls page lists the hits, or None if no list shows exactly the
    hits. `is_listed` is False for a rate that describes how other rates were measured; only the Data page
    shows such a rate. `in_sentences` is the name of the rate in a sentence, if it is not the title in lower
    case.
    """

    name: str
    title: str
    noun: Literal["call", "turn", "retry sequence", "request"]
    hit: str
    better: Literal["low", "high"] | None = "low"
    calls: Mapping[str, str] | None = None
    is_listed: bool = True
    in_sentences: str = ""

    @property
    def phrase(self) -> str:
        """The name of the rate in a sentence, such as "parse errors" or "denied calls"."""
        return self.in_sentences or self.title.lower()

    @property
    def is_good(self) -> bool:
        return self.better == "high"

    @property
    def meaning(self) -> str:
        """A phrase that defines the rate: Share of calls that …"""
        return f"Share of {self.noun}s that {self.hit}"

    @property
    def group(self) -> Group:
        """The group of rates in which pages show this rate."""
        if self.noun != "call":
            return "turn"
        return "tool" if self.name in _OF_TOOLS else "arguments"


_OF_TOOLS = ("unknown_tool", "emission", "truncated", "tool_rejected", "execution", "refused")
_ALL = (
    RateDefinition(
        "parse_error",
        "Parse errors",
        "call",
        "had invalid arguments: not JSON, or JSON that does not fit the tool's definition. Without a "
        "definition only the JSON syntax is checked",
        calls={"fault": "arguments"},
    ),
    RateDefinition(
        "syntax_error", "Syntax errors", "call", "had arguments that are not JSON", calls={"fault": "syntax"}
    ),
    RateDefinition(
        "schema_error",
        "Schema errors",
        "call",
        "had JSON arguments that do not fit the tool's definition",
        calls={"fault": "schema_error"},
    ),
    RateDefinition(
        "defined",
        "With a definition",
        "call",
        "were checked against a tool definition, of those that our parser read",
        better=None,
        is_listed=False,
    ),
    RateDefinition(
        "strict_failure",
        "Strict failures",
        "call",
        "a strict parser rejects: those that needed repair and those that failed",
        calls={"outcome": "strict"},
    ),
    RateDefinition(
        "salvaged",
        "Saved by repair",
        "call",
        "a strict parser rejects and ours could read",
        better="high",
        calls={"outcome": "mended"},
        in_sentences="calls saved by repair",
    ),
    RateDefinition(
        "mended",
        "Needed repair",
        "call",
        "became valid only after a syntax repair or a type conversion",
        calls={"outcome": "mended"},
        in_sentences="calls that needed repair",
    ),
    RateDefinition(
        "coerced",
        "Coerced",
        "call",
        "were valid JSON, with a value that had to be converted to the declared type",
        calls={"outcome": "coerced"},
        in_sentences="coerced calls",
    ),
    RateDefinition(
        "repaired",
        "Repaired",
        "call",
        "had to be unwrapped or repaired to become JSON",
        calls={"outcome": "repaired"},
        in_sentences="repaired calls",
    ),
    RateDefinition(
        "unknown_tool",
        "Unknown tool",
        "call",
        "named a tool that was not offered",
        calls={"code": "unknown_tool"},
        in_sentences="calls of unknown tools",
    ),
    RateDefinition(
        "emission",
        "Missing calls",
        "call",
        "are missing: the model wrote text where a call was due, or the call was cut off",
        calls={"fault": "emission"},
    ),
    RateDefinition(
        "truncated",
        "Cut off",
        "call",
        "end before their arguments do",
        calls={"outcome": "truncated"},
        in_sentences="calls cut off",
    ),
    RateDefinition(
        "tool_rejected",
        "Rejected by the tool",
        "call",
        "the tool itself rejected",
        calls={"fault": "tool_rejected"},
        in_sentences="calls rejected by the tool",
    ),
    RateDefinition("execution", "Execution errors", "call", "ran and failed", calls={"fault": "execution"}),
    RateDefinition(
        "refused",
        "Denied",
        "call",
        "a user or a policy denied",
        better=None,
        calls={"fault": "refused"},
        in_sentences="denied calls",
    ),
    RateDefinition(
        "recovered",
        "Recovered",
        "retry sequence",
        "ended with an attempt that worked",
        better="high",
        calls={"attempt": "first", "chain": "recovered"},
        in_sentences="recovered retry sequences",
    ),
    RateDefinition(
        "retried",
        "Retry rate",
        "turn",
        "repeated a call after a failure",
        calls={"turns": "retried"},
    ),
    RateDefinition(
        "turn_success",
        "Turn success",
        "turn",
        "succeeded, as the log reports; where it reports nothing, derived from the calls",
        better="high",
        calls={"turns": "succeeded"},
    ),
    RateDefinition(
        "recorded_ok",
        "Turn success, reported",
        "turn",
        "the log reports as successful",
        better="high",
        calls={"turns": "recorded_ok"},
        in_sentences="reported turn success",
    ),
    RateDefinition(
        "derived_ok",
        "Turn success, derived",
        "turn",
        "ended with an answer, gave up no call before it reached its tool, and lost no call; "
        "a tool that ran and failed does not count against it",
        better="high",
        calls={"turns": "derived_ok"},
        in_sentences="derived turn success",
    ),
    RateDefinition(
        "disagree",
        "Reported and derived differ",
        "turn",
        "the log reports differently from what we derive",
        calls={"turns": "disagree"},
        is_listed=False,
    ),
)
RATES: Mapping[str, RateDefinition] = {rate.name: rate for rate in _ALL}
"""All rates in the order of pages."""
PUBLIC_ERROR = RateDefinition(
    "tool_call_error",
    "Tool-call errors",
    "request",
    "had a tool call that is not JSON, names no offered tool, or does not fit the tool's definition, before "
    "any repair",
)
"""The rate that OpenRouter publishes. The metric `public_rates` counts it; the daily sums do not."""
LEADING = ("turn_success", "retried", "parse_error")
"""The rates by which models are chosen, the most important first."""
LISTED = tuple(rate.name for rate in _ALL if rate.is_listed)
"""The rates that lists on pages offer."""
HEADLINES = ("parse_error", "mended", "retried", "turn_success")
"""The rates of the Overview's cards and of the report of a load."""
