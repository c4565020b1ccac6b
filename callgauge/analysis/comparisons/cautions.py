"""What makes a comparison doubtful: little measured, other days, or sides that overlap."""

from __future__ import annotations

from collections.abc import Iterator

from callgauge.analysis.comparison import do_overlap
from callgauge.analysis.comparisons.sides import CompareSide
from callgauge.analysis.measures.comparisons import SliceComparison
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.slices import MEASURED_ENOUGH


def list_cautions(
    a: CompareSide, b: CompareSide, rate: RateDefinition, held: SliceComparison
) -> Iterator[str]:
    """Yield a sentence for each reason to doubt the comparison `held` of B with A."""
    for side, whole in ((a, held.other), (b, held.slice)):
        if whole is not None and not whole.is_rankable:
            yield (
                f"Less than {100 * MEASURED_ENOUGH:.0f}% of the {rate.noun}s of {side.arm.letter} could be "
                "judged: those that could may be unlike the others."
            )
    if a.arm.days != b.arm.days:
        yield (
            "Days differ by more than their sessions show, so this says less about the days than it seems. "
            "The Overview's alerts take the usual spread between days into account."
        )
    if do_overlap(a.arm, b.arm):
        yield (
            "The slices overlap: a call can be in both, which hides part of the difference. "
            "Narrow one of them to what the other leaves out."
        )
