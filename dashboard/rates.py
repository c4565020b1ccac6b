"""The rates that pages show, by their name in the tables: what counts, of what, and which way is better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Rate:
    """`noun`: what is counted, in the singular; `hit`: what one that counts is, after "calls that …".

    `better`: which way is better; None where a rate is neither good nor bad by itself.
    `calls`: the query of the Calls page that lists what k counts; None where no list shows just that.
    """

    name: str
    title: str
    noun: Literal["call", "turn", "chain"]
    hit: str
    better: Literal["low", "high"] | None = "low"
    calls: Mapping[str, str] | None = None

    @property
    def good(self) -> bool:
        return self.better == "high"


_ALL = (
    Rate(
        "parse_error",
        "Parse errors",
        "call",
        "had their arguments refused by the harness or our parser: no JSON, or not what the tool asks for",
        calls={"fault": "arguments"},
    ),
    Rate("syntax_error", "Syntax errors", "call", "were no JSON", calls={"fault": "syntax"}),
    Rate(
        "schema_error",
        "Schema errors",
        "call",
        "were JSON that the tool's definition refuses",
        calls={"fault": "schema"},
    ),
    Rate("strict_failure", "Strict failures", "call", "a strict reader refuses: mended ones and failed ones"),
    Rate(
        "salvaged",
        "Salvaged",
        "call",
        "a strict reader refuses and ours could read",
        better="high",
        calls={"outcome": "mended"},
    ),
    Rate(
        "mended",
        "Mended",
        "call",
        "fit only after a repair of the text or a change of a value's type",
        calls={"outcome": "mended"},
    ),
    Rate(
        "coerced",
        "Coerced",
        "call",
        "were JSON with a value of another type than declared",
        calls={"outcome": "coerced"},
    ),
    Rate(
        "repaired",
        "Repaired",
        "call",
        "had to be unwrapped or mended to be JSON",
        calls={"outcome": "repaired"},
    ),
    Rate(
        "unknown_tool",
        "Unknown tool",
        "call",
        "named a tool that was not offered",
        calls={"code": "unknown_tool"},
    ),
    Rate(
        "emission",
        "Leaked or lost",
        "call",
        "never reached a tool: written into the text, or cut off",
        calls={"fault": "emission"},
    ),
    Rate("truncated", "Cut off", "call", "end before their arguments do"),
    Rate(
        "tool_rejected", "Tool rejected", "call", "the tool itself refused", calls={"fault": "tool_rejected"}
    ),
    Rate("execution", "Failed in execution", "call", "ran and failed", calls={"fault": "execution"}),
    Rate(
        "refused",
        "Refused",
        "call",
        "a user, a policy or the harness stopped",
        better=None,
        calls={"fault": "refused"},
    ),
    Rate("recovered", "Recovered", "chain", "ended with an attempt that worked", better="high"),
    Rate(
        "retried",
        "Turns with a retry",
        "turn",
        "tried something again after a fault",
        calls={"turns": "retried"},
    ),
    Rate("recorded_ok", "Turns recorded ok", "turn", "the log calls successful", better="high"),
    Rate(
        "derived_ok",
        "Turns derived ok",
        "turn",
        "ended with an answer, no chain of attempts abandoned, no call lost",
        better="high",
    ),
    Rate(
        "disagree",
        "Verdicts that disagree",
        "turn",
        "the log and our conclusion judge differently",
        calls={"turns": "disagree"},
    ),
)
RATES: Mapping[str, Rate] = {rate.name: rate for rate in _ALL}
"""In the order in which a person reads them."""
