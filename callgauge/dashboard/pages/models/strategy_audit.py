"""Finds models whose calling strategy does not suit their probe results and parse errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from callgauge.analysis import wording
from callgauge.analysis.measures.slices import Slice
from callgauge.analysis.verdicts import sentences
from callgauge.stats import compare_rates

NATIVE = "tool_use"
FALLBACK = "json_fallback"


@dataclass(frozen=True, slots=True)
class StrategyUse:
    """The calls of one model on one host with one calling strategy, and the probes of that model.

    `calls` is the slice of the rate of parse errors: its field `name` is the model, and `also` is the host.
    `last_ok` says whether the last probe succeeded. It is None when there was no probe or no clear result.
    """

    calls: Slice
    strategy: str
    probes: int = 0
    probes_ok: int = 0
    last_ok: bool | None = None
    last_day: date | None = None
    last_error: str | None = None


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """The result of the audit for one StrategyUse.

    `tone` is None when there is no problem. The result with the lowest `weight` is the most urgent.
    """

    used: StrategyUse
    text: str
    tone: Literal["bad", "warn", "info"] | None
    weight: int


def audit_strategies(several: Sequence[StrategyUse], least: float) -> list[AuditFinding]:
    """Return one result for each StrategyUse, the most urgent first.

    `least` is the share of parse errors (0 to 1) from which native calls are a problem.
    """
    native = {(use.calls.name, use.calls.also): use for use in several if use.strategy == NATIVE}
    findings = [_audit_one(use, native.get((use.calls.name, use.calls.also)), least) for use in several]
    return sorted(findings, key=lambda finding: finding.weight)


def _audit_one(used: StrategyUse, native: StrategyUse | None, least: float) -> AuditFinding:
    if used.strategy == FALLBACK:
        return _audit_fallback(used, native)
    share, bounds = used.calls.share, used.calls.share.interval
    if used.strategy == NATIVE and used.last_ok is False and used.calls.total:
        return AuditFinding(used, "Called natively, although the last probe failed.", "warn", 2)
    if used.strategy != NATIVE or bounds is None or share.rate is None or share.rate < least:
        return AuditFinding(used, "No problem." if share.n else "Not measured.", None, 5)
    if not used.calls.is_solid:
        return AuditFinding(used, "Too few sessions to judge it.", None, 5)
    start = "The probe passed, but" if used.last_ok else "Never probed, and" if not used.probes else "It has"
    if bounds.low >= least:
        return AuditFinding(
            used, f"{start} parse errors are surely {_format_percent(least)} or more.", "bad", 0
        )
    between = wording.interval(bounds)
    return AuditFinding(
        used, f"{start} parse errors may be {_format_percent(least)} or more: {between}.", "warn", 3
    )


def _audit_fallback(used: StrategyUse, native: StrategyUse | None) -> AuditFinding:
    """Return whether a model that writes tool calls as text (json_fallback) could use native tool calls."""
    if used.last_ok:
        return AuditFinding(used, "The last probe passed: it may no longer need text calls.", "warn", 1)
    tried = native.calls if native else None
    if tried and tried.share.n:
        difference = compare_rates(tried.share, used.calls.share)
        rates = wording.rate(tried.share.k, tried.share.n), wording.fraction(tried.share.k, tried.share.n)
        text = f"Native calls of it: {rates[0]} parse errors ({rates[1]})"
        if difference is None:
            return AuditFinding(used, f"{text}; its text calls cannot be judged.", "info", 4)
        is_clear = difference.is_decisive and tried.share.has_enough and used.calls.share.has_enough
        if is_clear and difference.estimate < 0:
            return AuditFinding(
                used,
                f"{text}, {sentences.format_difference(difference)}: it may no longer need text.",
                "warn",
                1,
            )
        if is_clear:
            return AuditFinding(
                used, f"{text}, {sentences.format_difference(difference)}: text calls suit it.", None, 5
            )
        if used.last_ok is None or tried.share.has_enough:
            is_enough = tried.share.has_enough and used.calls.share.has_enough
            verdict = "no clear difference" if is_enough else "not enough data"
            return AuditFinding(
                used, f"{text}, {sentences.format_difference(difference)}: {verdict}.", "info", 4
            )
    if used.last_ok is False:
        return AuditFinding(used, "The last probe failed: it needs text calls.", None, 5)
    return AuditFinding(used, "No evidence: no probe, and no native call of it.", "info", 4)


def _format_percent(share: float) -> str:
    return f"{100 * share:.0f}%"
