"""Sentences on which model to use for each prompt or tool, and why a model is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import Enum

from callgauge.analysis import wording
from callgauge.analysis.measures.alerts import Alert
from callgauge.analysis.measures.costs import COMMAND, MeanCost
from callgauge.analysis.measures.rates import RateDefinition
from callgauge.analysis.measures.same_mix import SameMix
from callgauge.analysis.measures.slices import MEASURED_ENOUGH, Slice
from callgauge.analysis.verdicts.alerts import describe_open_alert
from callgauge.analysis.verdicts.sentences import DAYS_RULE, RULE, format_points, format_size
from callgauge.stats import ENOUGH, ENOUGH_SESSIONS, Difference, Interval, MixedRatio
from callgauge.stats.intervals import LEVEL
from callgauge.stats.standardisation import REPRESENTATIVE

Label = Callable[[str, str], str]
"""Returns the label of a value of a dimension."""


class Obstacle(Enum):
    """Why a model is not suggested, in words."""

    ONLY_MODEL = "only one model was used"
    TOO_LITTLE = "not enough data"
    UNPRICED = "costs are unknown"
    NOT_CHEAPER = "no other model is cheaper"
    WORSE = "the cheaper model is worse"
    UNPROVEN = "a cheaper model may be worse"
    OTHER_WORK = "the models did different work"
    OTHER_DAYS = "the models ran on different days"
    MEASURED_APART = "the models were not measured in the same way"
    COST_UNPROVEN = "no model is proven cheaper"
    ALERT = "the cheaper model has an open alert"


_SHORT = {
    Obstacle.ALERT: "has an open alert",
    Obstacle.COST_UNPROVEN: "not proven cheaper",
    Obstacle.MEASURED_APART: "not measured in the same way",
    Obstacle.NOT_CHEAPER: "not cheaper",
    Obstacle.OTHER_DAYS: "ran on different days",
    Obstacle.OTHER_WORK: "did different work",
    Obstacle.TOO_LITTLE: "not enough data",
    Obstacle.UNPRICED: "cost unknown",
}
_WORSE = {Obstacle.WORSE: "worse", Obstacle.UNPROVEN: "may be worse"}


@dataclass(frozen=True, slots=True)
class ModelUse:
    """A model at one prompt or tool: its rates by name, and its cost per successful turn.

    `cost` is None if the cost is unknown. `unpriced` is the number of `turns` without a price. `judged` is
    the number of priced turns whose success was measured.
    """

    model: str
    rates: Mapping[str, Slice]
    cost: MeanCost | None
    turns: int
    unpriced: int
    judged: int


@dataclass(frozen=True, slots=True)
class RateCheck:
    """The difference of a rate, candidate minus current model, mix-adjusted.

    `difference` is None if the two models have no work in common. `reason` says why the rates cannot be
    compared.
    """

    rate: RateDefinition
    difference: Difference | None
    mix: SameMix | None = None
    reason: str = ""
    has_too_few_days: bool = False

    @property
    def worst(self) -> float:
        """By how much the candidate may be worse, as a share: the end of the interval."""
        if self.difference is None:
            return 1.0
        return -self.difference.low if self.rate.is_good else self.difference.high

    @property
    def is_worse(self) -> bool:
        """True when the whole interval says that the candidate is worse."""
        if self.difference is None:
            return False
        return self.difference.high < 0 if self.rate.is_good else self.difference.low > 0

    @property
    def is_better(self) -> bool:
        """True when the whole interval says that the candidate is better."""
        if self.difference is None:
            return False
        return self.difference.low > 0 if self.rate.is_good else self.difference.high < 0


@dataclass(frozen=True, slots=True)
class Candidate:
    """Another model at the same prompt or tool.

    `obstacle` is None if the model is proven to be cheaper and not worse. `ratio` is its cost per successful
    turn divided by the cost of the current model, at the same mix. `level` is the confidence of the intervals
    that decide. It is corrected for `rivals`, the number of models that may be cheaper. `has_same_prices`
    means that both models have the same list price. `missing` holds the numbers of observations and sessions
    that are missing, by rate name.
    """

    use: ModelUse
    obstacle: Obstacle | None
    checks: Sequence[RateCheck] = ()
    ratio: MixedRatio | None = None
    level: float = LEVEL
    rivals: int = 1
    has_same_prices: bool = False
    missing: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    alert: Alert | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """Which model to use for the prompt or tool `name`.

    `suggestion` is the cheapest candidate without an obstacle, or None to keep the current model. Then
    `obstacle` is the reason, and `blocked` is the candidate with this obstacle, if there is one. `spent` is
    what the current model's priced turns cost in the recent days. `saving` is what the suggestion would have
    saved of it, with its 95 % interval.
    """

    by: str
    name: str
    current: ModelUse
    candidates: Sequence[Candidate]
    suggestion: Candidate | None = None
    obstacle: Obstacle | None = None
    blocked: Candidate | None = None
    spent: float | None = None
    saving: tuple[float, Interval] | None = None

    @property
    def other(self) -> Candidate | None:
        """The suggested or the blocked candidate, which the sentence compares with the current model."""
        return self.suggestion or self.blocked

    @property
    def model(self) -> str:
        """The model to use."""
        return (self.suggestion.use if self.suggestion else self.current).model


@dataclass(frozen=True, slots=True)
class ModelChoices:
    """The choices for all prompts or tools, the most used first.

    `days` holds the first and the last compared day, or None if the logs have no days. `recent` holds the
    days of the savings. `total` is the sum of all savings with its 95 % interval; it is None for tools,
    because a turn counts for every tool that it called. `unused` counts prompts or tools without a call in
    the recent days, and `left_out` those beyond the
    maximum number of rows. `has_unnamed` means that some calls have no prompt in the log. `hosts` holds the
    hosts of each model, the most used host first. `leaves_prices_out` means that built-in prices are not
    used.
    """

    by: str
    currency: str
    smallest: float
    rows: Sequence[ModelChoice]
    days: tuple[date, date] | None = None
    recent: tuple[date, date] | None = None
    total: tuple[float, Interval] | None = None
    unused: int = 0
    left_out: int = 0
    has_unnamed: bool = False
    hosts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    leaves_prices_out: bool = False

    @property
    def switches(self) -> list[ModelChoice]:
        return [row for row in self.rows if row.suggestion]

    @property
    def recent_words(self) -> str:
        if self.recent is None:
            return "in all turns"
        days = (self.recent[1] - self.recent[0]).days + 1
        return f"in the last {wording.plural(days, 'day')}" if days > 1 else "on the last day"


def describe_choices(choices: ModelChoices) -> str:
    """Return a sentence that counts the suggestions or says what is missing, and the compared days."""
    if not choices.rows:
        first = _describe_nothing(choices)
    else:
        first = _describe_switches(choices) if choices.switches else _describe_keeping(choices)
    prices = f"{_describe_currency(choices)}{_describe_unknown_costs(choices)}"
    return f"{first}{prices}{_describe_days(choices)}"


def write_days(days: tuple[date, date]) -> str:
    """Write the first and the last day, such as 2026-11-01 to 2026-11-28."""
    return f"{days[0]}" if days[0] == days[1] else f"{days[0]} to {days[1]}"


def _describe_days(choices: ModelChoices) -> str:
    return f" The models are compared on the calls of {write_days(choices.days)}." if choices.days else ""


def _describe_switches(choices: ModelChoices) -> str:
    noun, rows, number = wording.dimension(choices.by), choices.rows, len(choices.switches)
    which = f"{number:,} of {wording.plural(len(rows), noun)}" if len(rows) > 1 else f"the only {noun}"
    first = f"For {which}, a cheaper model is not worse"
    if choices.total is None:
        several = wording.plural_of(noun)
        turns = f" The savings of several {several} cannot be added: a turn may call more than one."
        return f"{first}.{turns if number > 1 else ''}"
    saved = write_saving(choices.total, choices.currency, "95% interval ")
    who = "it" if number == 1 else "together they"
    return f"{first}; {who} would have saved {saved} {choices.recent_words}."


def describe_unlisted(choices: ModelChoices) -> str:
    """Return a sentence on prompts or tools without a row, or "" if there are none."""
    noun = wording.dimension(choices.by)
    parts = []
    if choices.unused:
        parts.append(f"{wording.plural(choices.unused, noun)} without a call {choices.recent_words}")
    if choices.left_out:
        parts.append(f"{wording.plural(choices.left_out, noun)} with fewer calls")
    return f"Not listed: {wording.list_words(parts)}." if parts else ""


def _describe_nothing(choices: ModelChoices) -> str:
    noun = wording.dimension(choices.by)
    several = wording.plural_of(noun)
    if choices.unused:
        return f"No {noun} was used by a named model {choices.recent_words}."
    if choices.has_unnamed:
        return f"The logs do not name the {several} or the models of these calls, so no model can be chosen."
    return f"No calls with a {noun} match the filters, so no model can be chosen."


def _describe_keeping(choices: ModelChoices) -> str:
    noun, rows = wording.dimension(choices.by), choices.rows
    reasons = Counter(row.obstacle for row in rows if row.obstacle)
    many = len(reasons) > 1
    parts = [f"{each.value} ({number:,})" if many else each.value for each, number in reasons.most_common()]
    which = f"all {len(rows):,} {wording.plural_of(noun)}" if len(rows) > 2 else f"both {noun}s"
    which = which if len(rows) > 1 else f"the only {noun}"
    first = f"Keep the current model for {which}: {'; '.join(parts)}."
    measured = any(row.current.rates["turn_success"].share.n for row in rows if row.current.rates)
    missing = "" if measured else " Turn success was not measured, so no model can be proven not worse."
    return f"{first}{missing}"


def _describe_currency(choices: ModelChoices) -> str:
    if not choices.leaves_prices_out:
        return ""
    return (
        f" The team's prices are in {choices.currency}, so built-in prices in another currency are not used."
    )


def _describe_unknown_costs(choices: ModelChoices) -> str:
    """Return how to load missing prices, or "" if a verdict needs no price."""
    uses = (use for row in choices.rows for use in (row.current, *(each.use for each in row.candidates)))
    if choices.rows and not any(use.cost for use in uses):
        return f" No cost is known: load the prices of the models with {COMMAND}."
    rows = [row for row in choices.rows if row.obstacle is Obstacle.UNPRICED]
    if any(_has_no_price(row.blocked.use if row.blocked else row.current) for row in rows):
        return (
            " Some models have no turn with tokens in the log and a price on its day: load prices with "
            f"{COMMAND}."
        )
    return ""


def _has_no_price(use: ModelUse) -> bool:
    return 0 < use.unpriced == use.turns


def write_saving(saving: tuple[float, Interval], currency: str, words: str = "") -> str:
    """Write an amount with its interval, such as $120 (80 to 160)."""
    amount, bounds = saving
    places = 0 if abs(amount) >= 100 else wording.money_places(abs(amount))
    low, high = (f"{'−' if end < 0 else ''}{abs(end):,.{places}f}" for end in (bounds.low, bounds.high))
    sign = "−" if amount < 0 else ""
    return f"{sign}{wording.money(abs(amount), currency, places)} ({words}{low} to {high})"


def describe_choice(choice: ModelChoice, label: Label, smallest: float) -> str:
    """Return the suggestion for one prompt or tool with its reason. The sentence contains log content."""
    current = label("model", choice.current.model)
    if choice.suggestion:
        return f"{_describe_switch(choice.suggestion, current, label, smallest)}{_list_others(choice, label)}"
    blocked = choice.blocked
    if blocked is not None:
        reason = _describe_obstacle(blocked, label, smallest)
        return f"Keep {current}: {reason}{_list_others(choice, label)}"
    reasons = {
        Obstacle.ONLY_MODEL: "no other named model was used here.",
        Obstacle.NOT_CHEAPER: "no other model with enough data is cheaper per successful turn.",
        Obstacle.UNPRICED: f"its cost per successful turn is unknown.{_describe_price(choice.current)}",
        Obstacle.TOO_LITTLE: f"it has too little data. {_describe_missing(find_missing(choice.current))}",
    }
    return f"Keep {current}: {reasons[choice.obstacle or Obstacle.NOT_CHEAPER]}"


def _list_others(choice: ModelChoice, label: Label) -> str:
    """Return a sentence on the other models that are cheaper or have no known cost, each with a reason."""
    others = [
        candidate
        for candidate in choice.candidates
        if candidate is not choice.suggestion
        and candidate is not choice.blocked
        and candidate.obstacle is not Obstacle.NOT_CHEAPER
    ]
    words = [f"{label('model', each.use.model)} ({_explain_shortly(each)})" for each in others]
    return f" Other models that were considered: {wording.list_words(words)}." if words else ""


def describe_blocked(candidate: Candidate) -> str:
    """Return in a few words why a candidate is not suggested, such as "may be worse in turn success"."""
    if candidate.obstacle in _WORSE:
        return f"{_WORSE[candidate.obstacle]} in {_find_worst(candidate).rate.phrase}"
    return _SHORT[candidate.obstacle] if candidate.obstacle else ""


def _explain_shortly(candidate: Candidate) -> str:
    if candidate.obstacle is None:
        return "proven, but not the cheapest"
    if candidate.obstacle in _WORSE:
        return f"{_WORSE[candidate.obstacle]}: {_describe_check(_find_worst(candidate))}"
    return describe_blocked(candidate)


def _find_worst(candidate: Candidate) -> RateCheck:
    checks = [check for check in candidate.checks if check.difference is not None]
    return max(checks, key=lambda check: (check.is_worse, check.worst))


def _describe_switch(candidate: Candidate, current: str, label: Label, smallest: float) -> str:
    model, size = label("model", candidate.use.model), format_size(smallest)
    better, other = (
        [_describe_check(check) for check in candidate.checks if check.is_better is is_better]
        for is_better in (True, False)
    )
    parts = [f"is better ({'; '.join(better)})"] if better else []
    parts += [f"is not worse by {size} or more ({'; '.join(other)})"] if other else []
    parts += [f"costs {describe_cost(candidate.ratio)}"] if candidate.ratio else []
    same = " Both models have the same list price, so the difference comes from the numbers of tokens."
    return (
        f"Use {model} instead of {current}: {model} {wording.list_words(parts)}."
        f"{same if candidate.has_same_prices else ''} {_describe_level(candidate)}"
    )


def _describe_level(candidate: Candidate) -> str:
    """Return a sentence on the differences that decided: their adjustment and their confidence."""
    sentence = f"The differences are mix-adjusted, with {100 * candidate.level:.3g}% intervals"
    if candidate.level <= LEVEL:
        return f"{sentence}."
    return f"{sentence}: 95% corrected for {candidate.rivals} candidates."


def _describe_check(check: RateCheck) -> str:
    difference = check.difference
    if difference is None:
        return f"{check.rate.phrase}: unknown"
    ends = f"{format_points(difference.low)} to {format_points(difference.high)}"
    return f"{check.rate.phrase} {format_points(difference.estimate)} points, {ends}"


def describe_uses(choice: ModelChoice, label: Label, currency: str) -> list[str]:
    """Return a line for the current model, and a line for the suggested or blocked model.

    A line has both rates with their intervals, and the cost per successful turn.
    """
    others = [choice.other.use] if choice.other else []
    return [_describe_use(use, label, currency) for use in (choice.current, *others)]


def _describe_use(use: ModelUse, label: Label, currency: str) -> str:
    rates = []
    for slice_ in use.rates.values():
        share = slice_.share
        counts = f"{wording.fraction(share.k, share.n)}; {wording.interval(share.interval)}"
        measured = f"{wording.rate(share.k, share.n)} ({counts})" if share.n else "not measured"
        rates.append(f"{slice_.rate.phrase} {measured}")
    if use.cost is None:
        return f"{label('model', use.model)}: {', '.join(rates)}, cost per successful turn unknown"
    places = wording.money_places(use.cost.amount)
    bounds = use.cost.interval
    between = f" ({bounds.low:,.{places}f}–{bounds.high:,.{places}f})" if bounds else ""
    cost = f"cost per successful turn {wording.money(use.cost.amount, currency, places)}{between}"
    return f"{label('model', use.model)}: {', '.join(rates)}, {cost}"


def describe_cost(ratio: MixedRatio, unit: str = " per successful turn") -> str:
    """Describe a ratio of costs, such as 58% less per successful turn (51% to 65% less).

    A table whose column names the unit needs no `unit`.
    """
    most, least = (_write_change(end) for end in (ratio.interval.low, ratio.interval.high))
    ends = f"{least.removesuffix(' less')} to {most}" if ratio.interval.high < 1 else f"{most} to {least}"
    return f"{_write_change(ratio.estimate)}{unit} ({ends})"


def _write_change(ratio: float) -> str:
    """Write a ratio as a change, such as 58% less for 0.42. A doubled cost is 100% more."""
    change = abs(1 - ratio)
    percent = wording.percent(change, 2) if change < 1 else f"{100 * change:,.0f}%"
    return f"{percent} {'more' if ratio > 1 else 'less'}"


def _describe_obstacle(candidate: Candidate, label: Label, smallest: float) -> str:
    """Return why a candidate is not suggested, as the end of a sentence."""
    model = label("model", candidate.use.model)
    if candidate.obstacle is Obstacle.TOO_LITTLE:
        reason = f" ({candidate.reason})" if candidate.reason else ""
        return f"{model} has too little data{reason}. {_describe_missing(candidate.missing)}".rstrip()
    if candidate.obstacle is Obstacle.UNPRICED:
        return f"the cost of {model} is unknown.{_describe_price(candidate.use)}"
    if candidate.obstacle is Obstacle.MEASURED_APART:
        return f"{model} is {candidate.reason}."
    if candidate.obstacle is Obstacle.OTHER_DAYS:
        return f"{model} cannot be compared. {DAYS_RULE}"
    if candidate.obstacle is Obstacle.OTHER_WORK:
        share = wording.percent(REPRESENTATIVE, 2)
        return f"{model} did different work: the two models have less than {share} of it in common."
    if candidate.obstacle is Obstacle.COST_UNPROVEN and candidate.ratio is None:
        return f"{model} has too few sessions for an interval of its cost."
    if candidate.obstacle is Obstacle.COST_UNPROVEN and candidate.ratio is not None:
        cost = f"{model} costs {describe_cost(candidate.ratio)}"
        return f"{model} is not proven cheaper: {cost}. {_describe_level(candidate)}"
    if candidate.obstacle is Obstacle.ALERT and candidate.alert is not None:
        return (
            f"{model} has an open alert. {describe_open_alert(candidate.alert, candidate.alert.found, label)}"
        )
    is_worse = candidate.obstacle is Obstacle.WORSE
    worse = "worse" if is_worse else f"may be worse by {format_size(smallest)} or more"
    better = [_describe_check(check) for check in candidate.checks if check.is_better]
    gains = f" It is better in {'; '.join(better)}." if better else ""
    ends = _describe_check(_find_worst(candidate))
    return f"{model} is cheaper but {worse}: {ends}.{gains} {_describe_level(candidate)}"


def find_missing(use: ModelUse) -> dict[str, tuple[int, int]]:
    """Return for each rate of a model how many observations and sessions are missing for a verdict."""
    missing: dict[str, tuple[int, int]] = {}
    for name, slice_ in use.rates.items():
        share = slice_.share
        numbers = max(0, ENOUGH - share.n), max(0, ENOUGH_SESSIONS - (share.sessions or 0))
        if any(numbers) and not share.has_enough:
            missing[name] = numbers
    return missing


def find_reason(use: ModelUse) -> str:
    """Return why a model with enough observations has too little data, or "" if there is another reason."""
    for slice_ in use.rates.values():
        if slice_.concentration:
            return slice_.concentration
        if slice_.share.n and not slice_.is_rankable:
            return f"less than {100 * MEASURED_ENOUGH:.0f}% of its {slice_.rate.noun}s could be measured"
    return ""


def _describe_missing(missing: Mapping[str, tuple[int, int]]) -> str:
    nouns = {"parse_error": "measured calls", "turn_success": "turns with a known end"}
    words = []
    for name, (observations, sessions) in missing.items():
        parts = [f"{observations:,} more {nouns[name]}"] if observations else []
        parts += [f"{sessions:,} more {'session' if sessions == 1 else 'sessions'}"] if sessions else []
        words.append(" in ".join(parts))
    return f"A verdict needs {wording.list_words(words)}." if words else f"A verdict needs {RULE}."


def _describe_price(use: ModelUse) -> str:
    """Return a sentence on the unknown cost of a model, or "" if `_describe_unknown_costs` has the reason."""
    if _has_no_price(use):
        return ""
    if use.cost is None and use.judged:
        return " No turn with a price succeeded."
    counts = wording.fraction(use.unpriced, use.turns)
    return f" {counts} turns have no tokens in the log or no price on their day."
