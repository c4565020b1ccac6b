"""Definitions of the rates that pages show, by their name in the tables of the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Group = Literal["arguments", "tool", "turn"]
GROUPS: Mapping[Group, str] = {
    "arguments": "Did the model write arguments that a tool can take?",
    "tool": "Did the call reach its tool, and did the tool do it?",
    "turn": "Did the turn get there, and after how many attempts?",
}
"""The groups of rates in the order of reading, each with the question that it answers."""


@dataclass(frozen=True, slots=True)
class RateDefinition:
    """The definition of one rate.

    `noun`: the unit counted, in the singular; `hit`: the words that describe a hit, after "calls that".
    `better`: whether a low or a high rate is better; None where neither is. `calls`: the URL parameters with
    which the Calls page lists the hits; None where no list shows exactly the hits. `is_listed`: False for a
    rate that says how the others were measured: it is on the page Data and in no list of rates.
    """

    name: str
    title: str
    noun: Literal["call", "turn", "chain"]
    hit: str
    better: Literal["low", "high"] | None = "low"
    calls: Mapping[str, str] | None = None
    is_listed: bool = True

    @property
    def is_good(self) -> bool:
        return self.better == "high"

    @property
    def meaning(self) -> str:
        """The rate in words: Share of calls that …"""
        return f"Share of {self.noun}s that {self.hit}"

    @property
    def group(self) -> Group:
        """The group of rates that this one is shown in."""
        if self.noun != "call":
            return "turn"
        return "tool" if self.name in _OF_TOOLS else "arguments"


_OF_TOOLS = ("unknown_tool", "emission", "truncated", "tool_rejected", "execution", "refused")
_ALL = (
    RateDefinition(
        "parse_error",
        "Parse errors",
        "call",
        "had invalid arguments: no JSON, or not what the tool's definition asks for. A call without a "
        "definition is checked for JSON syntax only",
        calls={"fault": "arguments"},
    ),
    RateDefinition("syntax_error", "Syntax errors", "call", "were no JSON", calls={"fault": "syntax"}),
    RateDefinition(
        "schema_error",
        "Schema errors",
        "call",
        "were JSON that does not fit the tool's definition",
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
        "a strict reader refuses: mended ones and failed ones",
        calls={"outcome": "strict"},
    ),
    RateDefinition(
        "salvaged",
        "Salvaged",
        "call",
        "a strict reader refuses and ours could read",
        better="high",
        calls={"outcome": "mended"},
    ),
    RateDefinition(
        "mended",
        "Mended",
        "call",
        "fit only after a repair of the text or a change of a value's type",
        calls={"outcome": "mended"},
    ),
    RateDefinition(
        "coerced",
        "Coerced",
        "call",
        "were JSON with a value of another type than declared",
        calls={"outcome": "coerced"},
    ),
    RateDefinition(
        "repaired",
        "Repaired",
        "call",
        "had to be unwrapped or mended to be JSON",
        calls={"outcome": "repaired"},
    ),
    RateDefinition(
        "unknown_tool",
        "Unknown tool",
        "call",
        "named a tool that was not offered",
        calls={"code": "unknown_tool"},
    ),
    RateDefinition(
        "emission",
        "Leaked or lost",
        "call",
        "never reached a tool: written into the text, or cut off",
        calls={"fault": "emission"},
    ),
    RateDefinition(
        "truncated", "Cut off", "call", "end before their arguments do", calls={"outcome": "truncated"}
    ),
    RateDefinition(
        "tool_rejected", "Tool rejected", "call", "the tool itself refused", calls={"fault": "tool_rejected"}
    ),
    RateDefinition(
        "execution", "Failed in execution", "call", "ran and failed", calls={"fault": "execution"}
    ),
    RateDefinition(
        "refused",
        "Refused",
        "call",
        "a user, a policy or the harness stopped",
        better=None,
        calls={"fault": "refused"},
    ),
    RateDefinition(
        "recovered",
        "Recovered",
        "chain",
        "ended with an attempt that worked",
        better="high",
        calls={"attempt": "first", "chain": "recovered"},
    ),
    RateDefinition(
        "retried",
        "Retry rate",
        "turn",
        "tried something again after a failure",
        calls={"turns": "retried"},
    ),
    RateDefinition(
        "turn_success",
        "Turn success",
        "turn",
        "succeeded: as the log reports it, or derived where the log reports nothing",
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
    ),
    RateDefinition(
        "derived_ok",
        "Turn success, derived",
        "turn",
        "ended with an answer, left no call that never got through, and lost no call; "
        "a tool that ran and failed does not count",
        better="high",
        calls={"turns": "derived_ok"},
    ),
    RateDefinition(
        "disagree",
        "Verdicts that disagree",
        "turn",
        "the log reports otherwise than we derive",
        calls={"turns": "disagree"},
        is_listed=False,
    ),
)
RATES: Mapping[str, RateDefinition] = {rate.name: rate for rate in _ALL}
"""In the order in which a person reads them."""
LEADING = ("turn_success", "retried", "parse_error")
"""The rates that choose a model, the most telling first: what they say against a leader is its price."""
LISTED = tuple(rate.name for rate in _ALL if rate.is_listed)
"""The rates that lists on pages offer."""
HEADLINES = ("parse_error", "mended", "retried", "turn_success")
"""The rates of the Overview's cards and of the report of a load."""
