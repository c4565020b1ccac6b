"""Counts the errors at each parameter of a tool, and decides which errors suggest an edit of the definition.

Models make random errors at all parameters, so an error suggests an edit only if it is frequent at this
parameter, and more frequent than the same error at similar parameters of the same models.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache, reduce
from math import erfc, sqrt
from operator import add
from typing import Any, NamedTuple

import orjson

from callgauge.analysis.measures.comparisons import LEVEL, SMALLEST
from callgauge.analysis.replay.definition_edits import (
    find_enum,
    has_type,
    json_type,
    list_parameters,
    list_types,
    read_unit,
    type_examples,
)
from callgauge.analysis.replay.fix_results import EditKind
from callgauge.analysis.replay.replay_calls import StoredCall, parse_call
from callgauge.stats import ENOUGH, ENOUGH_SESSIONS, GROUPS, Share, holm, place_in_groups
from callgauge.stats.standardisation import standardise
from lenient import CODES, ToolCallRequest, ToolDefinition

UNNAMED = "unknown"
_OTHER_CODES = (
    "arguments_", "default_", "enum_", "optional_null_", "parameter_name_", "timestamp_",
    "unsupported_timestamp_",
)  # fmt: skip
"""The beginnings of the codes of the stage `coerce` that do not report a value of another type."""
EDITED_CODES = {
    "enum_out_of_range",
    *(name for name, code in CODES.items() if code.stage == "coerce" and not name.startswith(_OTHER_CODES)),
}
"""The diagnostic codes of errors for which an edit of the definition may exist."""
_OFTEN_SENT = 0.1  # smallest share of a parameter's type errors for which a type is accepted
_MOST_PLACES = 500  # maximum number of values of one call that are counted
_MOST_VALUES = 20  # maximum number of values that an edit may add to one enum
_LONGEST_VALUE = 60
_NORMAL, _ONE_SIDED = 1.959964, 1.644854  # quantiles of the normal distribution for 97.5 % and 95 %
_INDEX = re.compile(r"\[\d+\]")

SENT, TYPE, ENUM, UNIT, ALL = "sent", "type", "enum", "unit", "*"


def list_suspected(worst: Iterable[Mapping[Any, Any]]) -> list[Mapping[Any, Any]]:
    """Return the rows of the metric `worst_parameters` whose error is frequent and may have an edit.

    Only a replay shows whether an edit exists.
    """
    return [
        row
        for row in worst
        if row["code"] in EDITED_CODES and row["judged"] >= ENOUGH and row["calls"] > SMALLEST * row["judged"]
    ]


class CountCell(NamedTuple):
    """Whose calls a count belongs to."""

    definition: str
    model: str
    group: int


class Fact(NamedTuple):
    """What was counted: parameter, kind, and for an error the sent type, the value or the unit, or ALL."""

    parameter: str
    kind: str
    detail: str = ALL


@dataclass(frozen=True, slots=True)
class DeclaredParameter:
    """A parameter as one definition declares it. `text` is the whole declaration, for comparisons."""

    types: tuple[str, ...]
    enum: tuple[Any, ...] | None
    text: str
    declared: Mapping[str, Any]

    @property
    def family(self) -> frozenset[str]:
        """The types without null. Parameters of one family are similar."""
        return frozenset(self.types) - {"null"}

    @property
    def is_number(self) -> bool:
        return bool(self.family) and self.family <= {"integer", "number"}


def read_parameters(schema: Any) -> dict[str, DeclaredParameter]:
    """Return the parameters of a definition by name."""
    parameters = {}
    for name, (declared, _) in list_parameters(schema):
        enum = find_enum(declared)
        parameters[name] = DeclaredParameter(
            tuple(list_types(declared)),
            tuple(enum[1]) if enum else None,
            json.dumps(declared, sort_keys=True),
            declared,
        )
    return parameters


@dataclass(slots=True)
class ToolTally:
    """The checked calls of one tool, the calls that send each parameter, and the calls with each error."""

    definitions: dict[str, dict[str, DeclaredParameter]] = field(default_factory=dict)
    checked: Counter[CountCell] = field(default_factory=Counter)
    facts: dict[Fact, Counter[CountCell]] = field(default_factory=dict)
    sessions: dict[str, set[int]] = field(default_factory=dict)

    def take(self, call: StoredCall, own: ToolDefinition) -> None:
        """Parse and count a call that was made with the definition `own`."""
        definition = call.definition_id or ""
        if definition not in self.definitions:
            self.definitions[definition] = read_parameters(own.schema)
        group, number = _hash_session(call.session_id)
        cell = CountCell(definition, call.model or UNNAMED, group)
        self.checked[cell] += 1
        self.sessions.setdefault(definition, set()).add(number)
        for fact in find_facts(parse_call(call, own), self.definitions[definition]):
            self.facts.setdefault(fact, Counter())[cell] += 1

    def count_checked(self, definitions: Set[str]) -> tuple[dict[CountCell, int], int]:
        """Return the calls that were checked against these definitions, and their number of sessions."""
        checked = {cell: calls for cell, calls in self.checked.items() if cell.definition in definitions}
        return checked, len(set[int]().union(*(self.sessions[each] for each in definitions)))

    def count(self, fact: Fact, definitions: Set[str]) -> dict[CountCell, int]:
        """Return the calls with this fact that were checked against these definitions."""
        cells = self.facts.get(fact, Counter())
        return {cell: calls for cell, calls in cells.items() if cell.definition in definitions}


@lru_cache(maxsize=4_096)
def _hash_session(session: str) -> tuple[int, int]:
    digest = hashlib.md5(session.encode("utf-8", "replace"), usedforsecurity=False).digest()
    return int.from_bytes(digest[:4]) % GROUPS, int.from_bytes(digest[:8])


def find_facts(request: ToolCallRequest, parameters: Mapping[str, DeclaredParameter]) -> set[Fact]:
    """Return what a call sends, and which errors it has at which parameter."""
    sent = read_sent(request.raw_arguments)
    if sent is None:
        return set()
    wrong = {_INDEX.sub("[]", diagnostic.path.removeprefix("$.")) for diagnostic in request.diagnostics}
    facts = set()
    for name, value, _, _ in list_values(sent):
        declared = parameters.get(name)
        if declared is None:
            continue
        facts.add(Fact(name, SENT))
        if name in wrong:
            facts |= _find_errors(name, value, declared)
    return facts


def _find_errors(name: str, value: Any, declared: DeclaredParameter) -> set[Fact]:
    if declared.types and not has_type(value, declared.types):
        facts = {Fact(name, TYPE), Fact(name, TYPE, json_type(value))}
        if declared.is_number and (unit := read_unit(value)):
            facts |= {Fact(name, UNIT), Fact(name, UNIT, unit)}
        return facts
    if declared.enum is not None and isinstance(value, str | int | float) and value not in declared.enum:
        return {Fact(name, ENUM), Fact(name, ENUM, json.dumps(value))}
    return set()


def read_sent(raw: str | bytes | None) -> dict[str, Any] | None:
    """Return the arguments as the model sent them, or None if they are not a JSON object."""
    try:
        sent = orjson.loads(raw or "")
    except orjson.JSONDecodeError:
        return None
    return sent if isinstance(sent, dict) else None


class SentValue(NamedTuple):
    """The value of a parameter, such as `filters[].name`. It is `parent[key]`."""

    parameter: str
    value: Any
    parent: Any
    key: str | int


def list_values(sent: dict[str, Any]) -> list[SentValue]:
    """Return the values of all parameters, up to a maximum number."""
    values: list[SentValue] = []
    waiting = [SentValue(name, value, sent, name) for name, value in sent.items()]
    while waiting and len(values) < _MOST_PLACES:
        values.append(waiting.pop())
        name, value, _, _ = values[-1]
        if isinstance(value, dict):
            waiting += [SentValue(f"{name}.{key}", inner, value, key) for key, inner in value.items()]
        elif isinstance(value, list):
            waiting += [SentValue(f"{name}[]", inner, value, key) for key, inner in enumerate(value)]
    return values


# --- shares --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Counts:
    """Calls with an error (`k`) and calls in which it could occur (`n`), by cell."""

    k: Mapping[CountCell, int]
    n: Mapping[CountCell, int]
    sessions: int | None = None

    def share(self, model: str | None = None) -> Share:
        hits, totals = Counter[int](), Counter[int]()
        for cell, calls in self.n.items():
            if model in (None, cell.model):
                totals[cell.group] += calls
                hits[cell.group] += self.k.get(cell, 0)
        if not totals:
            return Share(0, 0)
        by_group = place_in_groups([[*totals]], [[hits[each] for each in totals]], [[*totals.values()]])
        return Share(sum(hits.values()), sum(totals.values()), self.sessions, by_group[0])

    @property
    def models(self) -> list[str]:
        totals = Counter[str]()
        for cell, calls in self.n.items():
            totals[cell.model] += calls
        return [name for name, _ in totals.most_common()]


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A frequent error at a parameter that suggests an edit.

    `details` holds the types, the value as JSON, or the unit that the edit uses. `share` counts calls with
    the error among checked calls. `usual` is the share of the same error at similar parameters, or None.
    `by_model` holds the share of each model among its calls that send the parameter. `only_model` is the
    model that alone makes the error, although other models have enough calls, or "".
    """

    kind: EditKind
    parameter: str
    details: tuple[str, ...]
    share: Share
    usual: float | None
    by_model: Mapping[str, Share]
    only_model: str = ""


class Evidence:
    """The errors of one tool compared with the errors at similar parameters.

    `newest` holds the parameters of the newest definition. Only calls whose own definition declared a
    parameter in the same way count for this parameter. `count_others` returns the tallies of other tools. It
    is called only if an error is frequent.
    """

    def __init__(
        self,
        tally: ToolTally,
        newest: Mapping[str, DeclaredParameter],
        count_others: Callable[[], Sequence[ToolTally]],
    ) -> None:
        self._tally = tally
        self._newest = newest
        self._count_others = count_others

    def find_suspicions(self) -> list[Suspicion]:
        """Return the errors that are frequent enough, most calls first.

        The p-values are adjusted by Holm's method over all parameters and kinds of error of the tool.
        """
        tests = list(self._test_all())
        adjusted = holm([p for _, p in tests])
        frequent = [
            suspicion
            for (suspicion, _), p in zip(tests, adjusted, strict=True)
            if suspicion is not None and p < LEVEL and suspicion.share.has_enough
        ]
        return sorted(frequent, key=lambda each: (-each.share.k, each.parameter, each.details))

    def _test_all(self) -> Iterator[tuple[Suspicion | None, float]]:
        """Yield each possible error with its p-value. The error is None if no call has it."""
        for name, declared in self._newest.items():
            if declared.types:
                kind, fact, details = self._choose_type_edit(name, declared)
                yield self._test(kind, name, details, fact)
            for fact in self._list_enum_facts(name, declared):
                yield self._test(EditKind.ENUM, name, (fact.detail,), fact)

    def _choose_type_edit(
        self, name: str, declared: DeclaredParameter
    ) -> tuple[EditKind, Fact, tuple[str, ...]]:
        """Return the edit that fits the values of another type, the counted error, and its details."""
        by_type = self._count_details(name, TYPE)
        total = sum(by_type.values())
        units = self._count_details(name, UNIT)
        if units and 2 * sum(units.values()) >= total:
            return EditKind.UNIT, Fact(name, UNIT), (max(units, key=lambda unit: (units[unit], unit)),)
        types = tuple(each for each, calls in by_type.most_common() if calls >= _OFTEN_SENT * total)
        shown = {json_type(change.before[0]) for change in type_examples(declared.declared)}
        kind = EditKind.EXAMPLE if types and types[0] in shown else EditKind.TYPE
        return kind, Fact(name, TYPE), types

    def _list_enum_facts(self, name: str, declared: DeclaredParameter) -> list[Fact]:
        if declared.enum is None:
            return []
        values = self._count_details(name, ENUM).most_common(_MOST_VALUES)
        return [Fact(name, ENUM, value) for value, _ in values if len(value) <= _LONGEST_VALUE] or [
            Fact(name, ENUM)
        ]

    def _count_details(self, name: str, kind: str) -> Counter[str]:
        allowed = self._allowed(name)
        return Counter({
            fact.detail: calls
            for fact in self._tally.facts
            if (fact.parameter, fact.kind) == (name, kind) and fact.detail != ALL
            and (calls := sum(self._tally.count(fact, allowed).values()))
        })  # fmt: skip

    def _allowed(self, name: str) -> set[str]:
        """Return the definitions that declare a parameter as the newest definition does."""
        return {
            definition
            for definition, parameters in self._tally.definitions.items()
            if name in parameters and parameters[name].text == self._newest[name].text
        }

    def count_checked(self, name: str) -> Counts:
        """Return the checked calls under definitions that declare a parameter as the newest one does.

        A hit is a call that sends the parameter.
        """
        return self._count(Fact(name, SENT))

    def _count(self, fact: Fact) -> Counts:
        return Counts(
            self._tally.facts.get(fact, {}), *self._tally.count_checked(self._allowed(fact.parameter))
        )

    def _test(
        self, kind: EditKind, name: str, details: tuple[str, ...], fact: Fact
    ) -> tuple[Suspicion | None, float]:
        counts = self._count(fact)
        share = counts.share()
        if not share.k or not details or share.interval is None:
            return None, 1.0
        p = _exceed(share.k / share.n, share.interval.low)
        if p >= LEVEL:  # the comparison with similar parameters could not lower the p-value
            return None, p
        own = Counts(counts.k, self._tally.count(Fact(name, SENT), self._allowed(name)))
        similar = self._find_similar(name, fact.kind)
        pairs = {model: (own.share(model), similar.share(model)) for model in own.models}
        compared = standardise([pair for pair in pairs.values() if pair[1].n])
        if compared is not None:
            p = max(p, _exceed(compared.difference.estimate, compared.difference.low))
        usual = compared.against if compared else None
        by_model = {model: pair[0] for model, pair in pairs.items()}
        return Suspicion(kind, name, details, share, usual, by_model, _find_only_model(pairs)), p

    def _find_similar(self, name: str, kind: str) -> Counts:
        """Return the same error at similar parameters of this and of other tools.

        Parameters that have the error in clearly more than the smallest share are left out, unless all have.
        If there is no parameter of the same type, all parameters with a type are similar.
        """
        several = self._list_similar(name, kind, _make_test(kind, self._newest[name].family))
        if not several and kind == TYPE:
            several = self._list_similar(name, kind, lambda declared: bool(declared.types))
        normal = [counts for counts in several if not _is_high(counts.share())]
        k, n = Counter[CountCell](), Counter[CountCell]()
        for counts in normal or several:
            k.update(counts.k)
            n.update(counts.n)
        return Counts(k, n)

    def _list_similar(
        self, name: str, kind: str, is_similar: Callable[[DeclaredParameter], bool]
    ) -> list[Counts]:
        return [
            counts
            for tally in (self._tally, *self._count_others())
            for parameter in dict.fromkeys(name for each in tally.definitions.values() for name in each)
            if tally is not self._tally or parameter != name
            if (counts := _merge_counts(tally, parameter, kind, is_similar)).n
        ]


def _make_test(kind: str, family: frozenset[str]) -> Callable[[DeclaredParameter], bool]:
    if kind == ENUM:
        return lambda each: each.enum is not None
    if kind == UNIT:
        return lambda each: each.is_number
    return lambda each: each.family == family


def _merge_counts(
    tally: ToolTally, parameter: str, kind: str, is_similar: Callable[[DeclaredParameter], bool]
) -> Counts:
    allowed = {
        definition
        for definition, parameters in tally.definitions.items()
        if parameter in parameters and is_similar(parameters[parameter])
    }
    return Counts(tally.count(Fact(parameter, kind), allowed), tally.count(Fact(parameter, SENT), allowed))


def _is_high(share: Share) -> bool:
    return share.interval is not None and share.interval.low > SMALLEST


def _exceed(estimate: float, low: float) -> float:
    """Return the p-value of the hypothesis that a value is at most SMALLEST.

    `low` is the lower end of its 95 % interval. The p-value is below 5 % exactly if `low` is above SMALLEST.
    """
    if estimate <= SMALLEST or estimate <= low:
        return 1.0
    return erfc(_NORMAL * (estimate - SMALLEST) / (estimate - low) / sqrt(2))


def _find_only_model(pairs: Mapping[str, tuple[Share, Share]]) -> str:
    """Return the model that alone clearly makes an error, or "".

    `pairs` holds for each model the share of the error at the parameter, and at similar parameters. If the
    error is also frequent without the model that makes it most often, at least two models make it.
    """
    enough = {name: pair for name, pair in pairs.items() if name != UNNAMED and pair[0].has_enough}
    if len(enough) < 2:
        return ""
    most = max(enough, key=lambda name: (enough[name][0].rate or 0.0) - (enough[name][1].rate or 0.0))
    others = [pair for name, pair in enough.items() if name != most]
    compared = standardise([pair for pair in others if pair[1].n])
    if compared is not None:
        estimate, low = compared.difference.estimate, compared.difference.low
        is_clear = estimate > SMALLEST and estimate > _ONE_SIDED / _NORMAL * (estimate - low)
        return "" if is_clear else most
    return "" if _is_high(reduce(add, (share for share, _ in others))) else most


def is_never_sent(share: Share) -> bool:
    """Return True if enough checked calls show that a parameter is sent in less than SMALLEST of calls."""
    sure = share.interval is not None and share.interval.high < SMALLEST
    return share.k == 0 and share.n >= ENOUGH and (share.sessions or 0) >= ENOUGH_SESSIONS and sure
