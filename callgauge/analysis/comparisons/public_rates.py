"""Counts tool-call errors as public lists do, and compares them with public rates and between hosts.

The metric `public_rates` counts requests whose tool calls a strict check rejects. OpenRouter publishes the
share of these requests as the tool-call error rate. K2-Vendor-Verifier publishes the other requests as the
schema accuracy, which is 1 minus the error rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from math import inf
from typing import Any

import pandas as pd

from callgauge.analysis import wording
from callgauge.analysis.comparisons.hosts import HostComparison, compare_hosts
from callgauge.analysis.comparisons.strata_queries import Ask
from callgauge.analysis.measures.comparisons import LEVEL, SMALLEST
from callgauge.analysis.measures.rates import PUBLIC_ERROR
from callgauge.analysis.measures.slices import Slice, make_slices
from callgauge.analysis.verdicts.hosts import Label
from callgauge.analysis.verdicts.public_rates import (
    PublicVerdict,
    describe_limit,
    describe_missing,
    describe_other_spelling,
    describe_public_hosts,
    describe_public_verdicts,
)
from callgauge.memory.public_rates import PublicRate
from callgauge.stats import Difference, Estimate, Share, compare_estimates, holm
from ingest.pipeline.planning.model_aliases import find_alias
from ingest.pipeline.planning.naming import DEFAULT_ALIASES
from ingest.time_ranges import Days

_METRIC = "public_rates"
MOST_CALLS = 5_000_000
"""The maximum number of calls that are checked, unless the newest day alone has more."""
_EXACT = 1e12  # without a published number of requests, a public rate counts as exact
_LISTED = 5  # maximum number of names in a reason

Pair = tuple[str, str]
"""A model and a host, as the store names them."""


@dataclass(frozen=True, slots=True)
class CallCounts:
    """The numbers of calls of a slice, by the result of the strict check. `calls` is the sum of the other
    numbers.
    """

    calls: int
    valid: int
    not_json: int
    unknown_tool: int
    schema_errors: int
    no_text: int
    no_definition: int
    unclear: int


@dataclass(frozen=True, slots=True)
class PublicRow:
    """One model on one host, next to the newest public rate of one source.

    `slice` holds the tool-call errors: `name` is the model, and `also` is the host. `counts` counts calls,
    not requests. `parse_errors` is the rate that the other pages show, or None if the model has no calls
    there. `public` is None if no public rate belongs to the model and the host. `difference` is the error
    rate minus the public rate. `p` is its p-value, corrected for all rows. `days_apart` is the number of days
    between the public rate and the nearest day with a request, or None if this number is unknown.
    """

    slice: Slice
    counts: CallCounts
    parse_errors: Slice | None
    public: PublicRate | None = None
    difference: Difference | None = None
    p: float | None = None
    days_apart: int | None = None

    @property
    def verdict(self) -> PublicVerdict:
        if self.public is None:
            return PublicVerdict.NO_RATE
        if not self.slice.share.n:
            return PublicVerdict.UNMEASURED
        if not self.slice.is_solid:
            return PublicVerdict.TOO_FEW
        difference = self.difference
        if difference is None or not difference.is_decisive or self.p is None or self.p >= LEVEL:
            return PublicVerdict.UNCLEAR
        return PublicVerdict.HIGHER if difference.estimate > 0 else PublicVerdict.LOWER

    @property
    def other_spelling(self) -> str:
        """How the public list writes the model and the host, or "" if it writes the names of the store."""
        return (
            describe_other_spelling(self.public, self.slice.name, self.slice.also or "")
            if self.public
            else ""
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the row as plain values, for JSON and CSV. Rates and differences are shares, 0 to 1."""
        share, parse, public, difference = (
            self.slice.share,
            self.parse_errors.share if self.parse_errors else Share(0, 0),
            self.public,
            self.difference,
        )
        bounds = share.interval
        return {
            "model": self.slice.name,
            "host": self.slice.also,
            "k": share.k,
            "n": share.n,
            "rate": share.rate,
            "low": bounds.low if bounds else None,
            "high": bounds.high if bounds else None,
            "schema_accuracy": share.complement.rate,
            "sessions": share.sessions,
            "requests": self.slice.total,
            "not_measured": self.slice.total - share.n,
            **asdict(self.counts),
            "parse_error_k": parse.k,
            "parse_error_n": parse.n,
            "parse_error_rate": parse.rate,
            "public_rate": public.rate if public else None,
            "public_model": public.model if public else None,
            "public_host": public.host if public else None,
            "public_date": public.day.isoformat() if public else None,
            "public_source": public.source if public else None,
            "public_n": public.n if public else None,
            "difference": difference.estimate if difference else None,
            "difference_low": difference.low if difference else None,
            "difference_high": difference.high if difference else None,
            "p_adjusted": self.p,
            "verdict": self.verdict.value,
            "days_apart": self.days_apart,
        }


@dataclass(frozen=True, slots=True)
class UnmatchedRates:
    """A model and a host of public rates that belong to no calls. `reason` says why, as a phrase."""

    model: str
    host: str
    rates: int
    reason: str


@dataclass(frozen=True, slots=True)
class PublicTable:
    """The tool-call errors of all models and hosts. Rows with a public rate come first.

    `hosts` compares the hosts of each model. `imported` is the number of imported public rates. `checked`
    holds the first and the last checked day if the chosen days have more than MOST_CALLS calls, else None.
    """

    rows: Sequence[PublicRow]
    hosts: HostComparison
    unmatched: Sequence[UnmatchedRates]
    imported: int
    checked: Days | None = None

    def write_sentences(self, label: Label, smallest: float = SMALLEST) -> list[str]:
        """Return the sentences on hosts and on public rates. `label` returns the label of a model."""
        if not any(row.slice.share.n for row in self.rows):
            counts = {id(row.counts): row.counts for row in self.rows}.values()
            sums = [
                sum(getattr(each, name) for each in counts)
                for name in ("calls", "no_text", "no_definition", "unclear")
            ]
            return [describe_missing((sums[0], sums[1], sums[2], sums[3])) or "No tool calls to check."]
        verdicts = [
            (f"{label(row.slice.name)} on {wording.one_line(row.slice.also, 40)}", row.verdict)
            for row in self.rows
            if row.public
        ]
        return [
            describe_public_hosts(self.hosts.rows, label, smallest, has_thin=bool(self.hosts.thin)),
            describe_public_verdicts(verdicts, self.imported),
            *([describe_limit(self.checked, MOST_CALLS)] if self.checked else []),
        ]


def compare_with_public(ask: Ask, rates: Sequence[PublicRate], chosen: Mapping[str, Any]) -> PublicTable:
    """Return the tool-call errors of each model and host next to the public rates.

    If more than MOST_CALLS calls match the filters `chosen`, only the calls of the newest days are checked.
    """
    checked = _limit_days(ask, chosen)
    if checked:
        chosen = {**chosen, "from_day": checked[0], "to_day": checked[1]}
    counted = ask(_METRIC, by="model", also="provider", **chosen)
    slices = make_slices(counted)
    parse_errors = {
        (slice_.name, slice_.also): slice_
        for slice_ in make_slices(
            ask("slices", rates=("parse_error",), by="model", also="provider", **chosen), related=False
        )
    }
    names = ask("model_names").to_dict("records") if rates else []
    matched, unmatched = match_public_rates(
        rates,
        [(slice_.name, slice_.also) for slice_ in slices],
        {row["model_name"]: row["model"] for row in names},
    )
    rows = []
    for slice_, counts, days in zip(slices, _read_counts(counted), counted["days"], strict=True):
        pair = slice_.name, slice_.also
        row = PublicRow(slice_, counts, parse_errors.get(pair))
        rows += [
            replace(row, public=public, days_apart=_count_days_apart(days, public.day))
            for public in matched.get(pair, ())
        ] or [row]
    rows.sort(key=lambda row: (row.public is None, -row.slice.total))
    hosts = compare_hosts(_redirect(ask), PUBLIC_ERROR, chosen)
    return PublicTable(_compare_rows(rows), hosts, unmatched, len(rates), checked)


def _limit_days(ask: Ask, chosen: Mapping[str, Any]) -> Days | None:
    """Return the newest days with at most MOST_CALLS calls together, or None if no day must be left out.

    The numbers of calls come from the daily sums, so that the calls of other days need not be read.
    """
    per_day = ask("call_days", **chosen)
    dated = per_day[per_day["day"].notna()]
    if per_day["most"].sum() <= MOST_CALLS or dated.empty:
        return None
    kept = dated[(dated["most"].cumsum() <= MOST_CALLS) | (dated["day"] == dated["day"].iloc[0])]
    return kept["day"].iloc[-1], kept["day"].iloc[0]


def _redirect(ask: Ask) -> Ask:
    """Return an `ask` that counts slices and strata with the metric of this module."""

    def answer(metric: str, **parameters: Any) -> pd.DataFrame:
        # The metric has only one rate. Without this parameter, the cache has the answer for the slices.
        own = {name: value for name, value in parameters.items() if name != "rates"}
        if metric == "slices":
            return ask(_METRIC, **own)
        if metric == "strata":
            return ask(_METRIC, **own).rename(columns={"slice": "arm"})
        return ask(metric, **parameters)

    return answer


def _read_counts(rows: pd.DataFrame) -> list[CallCounts]:
    columns = [rows[field.name] for field in fields(CallCounts)]
    return [CallCounts(*map(int, numbers)) for numbers in zip(*columns, strict=True)]


def _count_days_apart(days: Sequence[date], day: date) -> int | None:
    """Return the number of days from `day` to the first or the last of `days`, or 0 if `day` is between
    them.
    """
    if not len(days):
        return None
    return max(0, (days[0] - day).days, (day - days[-1]).days)


def _compare_rows(rows: Sequence[PublicRow]) -> list[PublicRow]:
    """Return the rows with the difference to the public rate, and with p-values corrected by Holm's method.

    A public rate without the number of requests counts as exact. So the difference is clear only if the
    public rate is outside of the interval of the error rate.
    """
    judged = [
        (place, estimate, row.public)
        for place, row in enumerate(rows)
        if row.public and row.slice.is_solid and (estimate := row.slice.share.estimate)
    ]
    differences = compare_estimates(
        [(estimate, Estimate(public.rate, public.n or _EXACT, inf, inf)) for _, estimate, public in judged]
    )
    compared = list(rows)
    for (place, _, _), difference, p in zip(
        judged, differences, holm([each.p for each in differences]), strict=True
    ):
        compared[place] = replace(rows[place], difference=difference, p=p)
    return compared


# --- names ----------------------------------------------------------------------------------------


def match_public_rates(
    rates: Iterable[PublicRate], pairs: Sequence[Pair], names: Mapping[str, str]
) -> tuple[dict[Pair, list[PublicRate]], list[UnmatchedRates]]:
    """Return by model and host the newest public rate of each source, and the rates that match no pair.

    `pairs` holds the models and hosts of the store. `names` maps each model name in the logs to its model. A
    public model name matches if it is a name of the store, or if both names are equal after the rules for
    model names (`openai/gpt-5` and `gpt-5`). Host names match without case, spaces and punctuation.
    """
    hosts: dict[str, list[str]] = {}
    for model, host in pairs:
        if model == "unknown":
            continue
        hosts.setdefault(model, []).append(host)
    models: dict[str, set[str]] = {}
    for model in hosts:
        models.setdefault(_simplify_model(model), set()).add(model)
    matched: dict[Pair, dict[str, PublicRate]] = {}
    left: dict[tuple[str, str, str], int] = {}
    for rate in rates:
        pair = _match(rate, hosts, models, names)
        if isinstance(pair, str):
            key = rate.model, rate.host, pair
            left[key] = left.get(key, 0) + 1
            continue
        by_source = matched.setdefault(pair, {})
        if rate.source not in by_source or rate.day > by_source[rate.source].day:
            by_source[rate.source] = rate
    newest = {
        pair: sorted(by_source.values(), key=lambda rate: (-rate.day.toordinal(), rate.source))
        for pair, by_source in matched.items()
    }
    return newest, [UnmatchedRates(model, host, n, reason) for (model, host, reason), n in left.items()]


def _match(
    rate: PublicRate,
    hosts: Mapping[str, Sequence[str]],
    models: Mapping[str, set[str]],
    names: Mapping[str, str],
) -> Pair | str:
    """Return the model and the host of a public rate, or the reason why there is no such pair."""
    exact = next((name for name in (rate.model, names.get(rate.model)) if name in hosts), None)
    candidates = [exact] if exact else sorted(models.get(_simplify_model(rate.model), ()))
    if not candidates:
        return "no calls of this model"
    if len(candidates) > 1:
        return f"the name may mean {_list(candidates, 'or')}"
    (model,) = candidates
    named = [host for host in hosts[model] if host != "unknown"]
    fitting = [host for host in named if host == rate.host] or [
        host for host in named if _simplify_host(host) == _simplify_host(rate.host)
    ]
    if len(fitting) == 1:
        return model, fitting[0]
    if fitting:
        return f"the host may be {_list(fitting, 'or')}"
    if not named:
        return f"the logs name no host of {wording.one_line(model, 40)}"
    return f"{wording.one_line(model, 40)} has calls on {_list(named, 'and')} only"


def _list(names: Sequence[str], last: str) -> str:
    more = [f"{len(names) - _LISTED} more"] if len(names) > _LISTED else []
    return wording.list_words([*(wording.one_line(name, 40) for name in names[:_LISTED]), *more], last)


def _simplify_model(name: str) -> str:
    alias = find_alias(name.strip(), DEFAULT_ALIASES)
    return (alias.model if alias else name.strip()).casefold()


def _simplify_host(name: str) -> str:
    folded = name.casefold()
    return "".join(filter(str.isalnum, folded)) or folded
