"""Decides by which rate slices may be compared, when only some slices have tool definitions or reported
success.

A parse error is invalid JSON, or a violation of the schema if a definition was available. Turn success comes
from the log, or is derived if the log does not report turn success. If slices were measured differently, they
are compared by a rate that was measured in the same way in all slices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from callgauge.analysis import wording
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.slices import Slice
from callgauge.stats import Share

TOLERANCE = 0.05
"""Two slices are measured in the same way if their measured shares differ by at most this much."""
_ROUNDING = 1e-9
_NAMED = 2  # maximum number of slices that the sentence about a missing measurement names
_ALL = 0.995  # a share that is printed as 100 % counts as all


_SYNTAX = "syntax_error"
_BY_DEFINITION: Mapping[str, str | None] = {
    "parse_error": _SYNTAX,
    **dict.fromkeys(("repaired", "tool_rejected", "execution", "retried", "recovered", "derived_ok")),
}
"""Rates that a tool definition changes, each with the rate to use where definitions differ, or None.

A definition reveals failures that the log does not show. These start retry sequences and precede other
failure stages.
"""


_TEXT, _DEFINITION = "the model's own text", "a tool definition"
_NEEDS = {
    **dict.fromkeys(("schema_error", "coerced"), _DEFINITION),
    **dict.fromkeys(("mended", "strict_failure", "salvaged"), f"{_TEXT} and {_DEFINITION}"),
    **dict.fromkeys(("repaired", "truncated"), _TEXT),
}


@dataclass(frozen=True, slots=True)
class ComparisonBasis:
    """The rate by which slices are compared.

    `rate` is the name of the rate, or None if the slices cannot be compared. `reason` says why the requested
    rate is not used, as the end of a sentence. It is empty if the requested rate is used. `shares` holds by
    slice name the share of calls with a tool definition, or the share of turns whose success the log reports.
    Slices without measured calls or turns are left out.
    """

    rate: str | None
    reason: str = ""
    shares: Mapping[str, float] = field(default_factory=dict)

    @property
    def sentence(self) -> str:
        """The reason as a sentence, or "" if there is no reason."""
        return f"{self.reason[0].upper()}{self.reason[1:]}." if self.reason else ""


def rates_to_compare(rate: str) -> tuple[str, ...]:
    """Return the names of the rates that `compare_by` needs or may return for `rate`.

    The first name is `rate`.
    """
    if rate == "turn_success":
        return (rate, "recorded_ok", "derived_ok", "defined", _SYNTAX)
    if rate in _BY_DEFINITION:
        return (rate, "defined", _SYNTAX)
    return (rate,)


def is_by_definition(rate: RateDefinition) -> bool:
    """Return True when a rate depends on whether tool definitions are available."""
    return rate.name in _BY_DEFINITION


def compare_by(rate: str, slices: Iterable[Slice]) -> ComparisonBasis:
    """Return the rate by which slices may be compared if `rate` is requested.

    `slices` holds the slices to compare, for each rate in `rates_to_compare`. Slices with the same name are
    added up.
    """
    listed = list(slices)
    if rate == "turn_success":
        return _compare_success(listed)
    if rate not in _BY_DEFINITION:
        return ComparisonBasis(rate)
    shares = find_definition_shares(listed)
    if not _find_lowest(shares):
        return ComparisonBasis(rate, "", shares)
    instead = _BY_DEFINITION[rate]
    start = "compared on JSON syntax only" if instead else "not comparable"
    return ComparisonBasis(instead, f"{start}: {_describe_missing(shares)}", shares)


def find_undefined(rate: str, slices: Iterable[Slice]) -> dict[str, str]:
    """Return by slice name why a slice without tool definitions gets no rank by `rate`.

    The rule applies if the rate depends on definitions, if two or more slices have definitions, and if these
    slices have half of the calls or more. Otherwise the result is empty, and `compare_by` chooses a rate that
    all slices have.
    """
    listed = list(slices)
    if rate not in _BY_DEFINITION:
        return {}
    shares = find_definition_shares(listed)
    lacking = _find_lowest(shares)
    calls = Counter({slice_.name: slice_.share.n for slice_ in listed if slice_.rate.name == _SYNTAX})
    left = [name for name in shares if name not in lacking]
    if len(left) < 2 or sum(calls[name] for name in left) < calls.total() / 2:
        return {}
    return {
        name: "its logs have no tool definitions"
        if not shares[name]
        else f"{wording.percent(1 - shares[name], 2)} of its calls have no tool definition"
        for name in lacking
    }


def _compare_success(slices: Sequence[Slice]) -> ComparisonBasis:
    """Return the rate for comparing turn success: reported success, derived success, or no rate.

    Derived success needs tool definitions.
    """
    reported = _find_shares(slices, "recorded_ok", "turn_success", lambda share: share.n)
    if min(reported.values(), default=1.0) >= 1 - TOLERANCE:
        return ComparisonBasis("turn_success", "", reported)
    definitions = find_definition_shares(slices)
    if _find_lowest(definitions):
        return ComparisonBasis(None, f"not comparable: {_describe_missing(definitions)}", definitions)
    if _find_lowest(reported):
        return ComparisonBasis("derived_ok", _describe_reports(reported), reported)
    return ComparisonBasis("turn_success", "", reported)


def find_definition_shares(slices: Iterable[Slice]) -> dict[str, float]:
    """Return by slice name the share of the measured calls that have a tool definition.

    `slices` must hold the slices of the rate `defined`, and of parse_error or syntax_error, which count the
    same calls.
    """
    listed = list(slices)
    whole = _SYNTAX if any(slice_.rate.name == _SYNTAX for slice_ in listed) else "parse_error"
    return _find_shares(listed, "defined", whole, lambda share: share.k)


def find_definition_share(slices: Iterable[Slice]) -> float | None:
    """Return the share of all measured calls with a tool definition, or None if nothing was measured."""
    return find_definition_shares(replace(slice_, name="all") for slice_ in slices).get("all")


def _find_shares(
    slices: Iterable[Slice], part: str, whole: str, count: Callable[[Share], int]
) -> dict[str, float]:
    """Return for each slice the `count` of the rate `part` divided by the n of the rate `whole`."""
    parts: Counter[str] = Counter()
    wholes: Counter[str] = Counter()
    for slice_ in slices:
        if slice_.rate.name == part:
            parts[slice_.name] += count(slice_.share)
        if slice_.rate.name == whole:
            wholes[slice_.name] += slice_.share.n
    return {name: parts[name] / n for name, n in wholes.items() if n}


# --- words ----------------------------------------------------------------------------------------


def describe_definitions(share: float | None) -> str:
    """Return a caption that says which errors the rate of parse errors does not include.

    The caption is empty if all calls had a definition. `share` is the share of measured calls with a tool
    definition, or None if nothing was measured.
    """
    if share is None or share >= _ALL:
        return ""
    if not share:
        return "JSON syntax only: no tool definitions"
    return f"JSON syntax only on {wording.percent(1 - share, 2)} of calls: no tool definition"


def describe_gap(share: float | None) -> str:
    """Return a sentence that says which errors the rate of parse errors does not include."""
    if share is None or share >= _ALL:
        return ""
    if not share:
        return "Parse errors cover JSON syntax only: the logs have no tool definitions."
    missing = wording.percent(1 - share, 2)
    return f"Parse errors cover JSON syntax only on {missing} of calls: these have no tool definition."


def describe_unmeasured(rate: RateDefinition, slices: Iterable[Slice]) -> str:
    """Return a sentence that says why no slice has the rate. Return "" if a slice has the rate."""
    if any(slice_.share.n for slice_ in slices):
        return ""
    needs = _NEEDS.get(rate.name)
    return f"{rate.title}: not measured." + (f" It takes {needs}." if needs else "")


def describe_reported(reported: int, measured: int) -> str:
    """Return a sentence on how many turns have a reported outcome.

    `measured` is the number of turns with an outcome, and `reported` the number of turns whose outcome is in
    the log.
    """
    if reported == measured:
        return "reported by the log"
    if not reported:
        return "derived"
    return f"{wording.rate(reported, measured)} reported by the log, the others derived"


def _describe_missing(shares: Mapping[str, float]) -> str:
    lacking = _find_lowest(shares)
    names = _name(lacking)
    worst = 1 - shares[lacking[0]]
    if all(not shares[name] for name in lacking):
        return f"the logs of {names} have no tool definitions"
    share = "half" if abs(worst - 0.5) <= TOLERANCE else wording.percent(worst, 2)
    if len(lacking) == 1:
        return f"{share} of the calls of {names} have no tool definition"
    return f"up to {share} of the calls of {names} have no tool definition"


def _describe_reports(shares: Mapping[str, float]) -> str:
    lowest, *_, highest = sorted(shares, key=lambda name: (shares[name], name))
    most, least = (wording.percent(shares[name], 2) for name in (highest, lowest))
    return (
        f"compared by derived turn success: the logs report it for {most} of the turns of {_name([highest])} "
        f"and {least} of those of {_name([lowest])}"
    )


def _find_lowest(shares: Mapping[str, float]) -> list[str]:
    """Return the slices with a lower measured share than the best measured slice, the lowest share first."""
    best = max(shares.values(), default=0.0)
    lacking = [name for name, share in shares.items() if best - share > TOLERANCE + _ROUNDING]
    return sorted(lacking, key=lambda name: (shares[name], name))


def _name(names: list[str]) -> str:
    shown = [wording.one_line(name, 40) for name in names[:_NAMED]]
    more = [f"{len(names) - _NAMED:,} more"] if len(names) > _NAMED else []
    return wording.list_words([*shown, *more])
