"""Which rate slices may be compared by, as some have tool definitions or reported success and others do not.

A parse error covers JSON syntax, and the schema where a definition was at hand. Turn success is what the log
reports, or derived where it reports nothing. Slices that were not measured alike are compared by a rate that
was measured alike in all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from callgauge.analysis import wording
from callgauge.analysis.measures.slices import Slice

TOLERANCE = 0.05
"""How far the shares of two slices that are measured alike may lie apart."""
_ROUNDING = 1e-9
_NAMED = 2  # slices that a reason names
_ALL = 0.995  # from this share on, all: the rest would print as 100 %


@dataclass(frozen=True, slots=True)
class _Basis:
    """What a rate covers where it is measured in full: `part` (k or n of a rate) of the n of `whole`.

    `instead`: the rate that compares slices in which this differs; None where no rate does.
    """

    part: tuple[str, str]
    whole: str
    instead: str | None


_BASES: Mapping[str, _Basis] = {
    "parse_error": _Basis(("defined", "k"), "syntax_error", "syntax_error"),
    "repaired": _Basis(("defined", "k"), "syntax_error", None),  # a repaired text may still not fit
    "turn_success": _Basis(("recorded_ok", "n"), "turn_success", "derived_ok"),
}


@dataclass(frozen=True, slots=True)
class ComparisonBasis:
    """The rate that slices are compared by.

    `rate`: its name; None where they cannot be compared. `reason`: why it is not the rate that was asked for,
    as the end of a sentence; empty where it is. `shares`: how each slice was measured, by name: the share of
    calls with a tool definition, or of turns whose success the log reports; a slice with nothing measured is
    left out.
    """

    rate: str | None
    reason: str = ""
    shares: Mapping[str, float] = field(default_factory=dict)


def rates_to_compare(rate: str) -> tuple[str, ...]:
    """Return the rates that `compare_by` reads to decide on `rate`, itself first."""
    basis = _BASES.get(rate)
    if basis is None:
        return (rate,)
    named = (rate, basis.part[0], basis.whole, *([basis.instead] if basis.instead else []))
    return tuple(dict.fromkeys(named))


def compare_by(rate: str, slices: Iterable[Slice]) -> ComparisonBasis:
    """Return the rate by which slices may be compared when a reader asks for `rate`.

    `slices`: those of the rates in `rates_to_compare`, of all slices to compare; several of one name add up.
    """
    basis = _BASES.get(rate)
    if basis is None:
        return ComparisonBasis(rate)
    shares = _find_shares(basis, slices)
    if not shares or not _find_lowest(shares):
        return ComparisonBasis(rate, "", shares)
    if rate == "turn_success":
        return ComparisonBasis(basis.instead, _describe_reports(shares), shares)
    start = "compared on JSON syntax only" if basis.instead else "not comparable"
    return ComparisonBasis(basis.instead, f"{start}: {_describe_missing(shares)}", shares)


def find_definition_shares(slices: Iterable[Slice]) -> dict[str, float]:
    """Return the share of the measured calls with a tool definition, by slice.

    `slices`: those of the rates defined and parse_error or syntax_error, which are measured of the same calls.
    """
    syntax = _BASES["parse_error"]
    alike = [one for one in slices if one.rate.name in ("defined", "parse_error", "syntax_error")]
    whole = "parse_error" if any(one.rate.name == "parse_error" for one in alike) else "syntax_error"
    return _find_shares(_Basis(syntax.part, whole, None), alike)


def _find_shares(basis: _Basis, slices: Iterable[Slice]) -> dict[str, float]:
    name, column = basis.part
    parts: dict[str, int] = {}
    wholes: dict[str, int] = {}
    for one in slices:
        if one.rate.name == name:
            count = one.share.k if column == "k" else one.share.n
            parts[one.name] = parts.get(one.name, 0) + count
        if one.rate.name == basis.whole:
            wholes[one.name] = wholes.get(one.name, 0) + one.share.n
    return {name: parts.get(name, 0) / whole for name, whole in wholes.items() if whole}


# --- words ----------------------------------------------------------------------------------------


def describe_definitions(share: float | None) -> str:
    """Return what parse errors do not cover, for captions; empty where all calls had a definition.

    `share`: that of the measured calls with a tool definition; None where nothing was measured.
    """
    if share is None or share >= _ALL:
        return ""
    if not share:
        return "JSON syntax only: no tool definitions"
    return f"JSON syntax only on {wording.percent(1 - share, 2)} of calls: no tool definition"


def describe_gap(share: float | None) -> str:
    """Return the same as a sentence that stands alone, for a page about parse errors."""
    if share is None or share >= _ALL:
        return ""
    if not share:
        return "Parse errors cover JSON syntax only: the logs have no tool definitions."
    missing = wording.percent(1 - share, 2)
    return f"Parse errors cover JSON syntax only on {missing} of calls: these have no tool definition."


def describe_reported(reported: int, known: int) -> str:
    """Return who says whether turns succeeded: `reported` by the log, of `known`."""
    if reported == known:
        return "reported by the log"
    if not reported:
        return "derived"
    return f"{wording.rate(reported, known)} reported by the log, the others derived"


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
    lowest, highest = min(shares, key=lambda name: (shares[name], name)), max(shares, key=shares.__getitem__)
    return (
        f"compared by derived turn success: the logs report it for {wording.percent(shares[highest], 2)} of the "
        f"turns of {_name([highest])} and {wording.percent(shares[lowest], 2)} of those of {_name([lowest])}"
    )


def _find_lowest(shares: Mapping[str, float]) -> list[str]:
    """Return the slices that lack what the best measured slice has, those that lack most first."""
    best = max(shares.values())
    lacking = [name for name, share in shares.items() if best - share > TOLERANCE + _ROUNDING]
    return sorted(lacking, key=lambda name: (shares[name], name))


def _name(names: list[str]) -> str:
    shown = [wording.one_line(name, 40) for name in names[:_NAMED]]
    more = [f"{len(names) - _NAMED:,} more"] if len(names) > _NAMED else []
    return wording.list_words([*shown, *more])
