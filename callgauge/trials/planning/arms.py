"""Reads the variants of a plan: all combinations of the listed settings, or those that the plan names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from callgauge.checked_files.file_problems import KeyPath, Mistake, suggest_name
from callgauge.trials.planning.plan import TrialArm
from callgauge.trials.planning.safe_names import is_reserved_name
from lenient import Policy

_PARTS = {"models": "model", "prompts": "prompt", "definitions": "definitions"}
_LISTS = ("compensations", "accept", "template")
_MOST = 100


def read_arms(
    arms: Mapping[str, Any],
    run: Mapping[str, Any],
    names: Mapping[str, Sequence[str]],
    mistakes: list[Mistake],
) -> tuple[TrialArm, ...]:
    """Return the variants of a plan. Append every mistake to `mistakes`.

    `arms` and `run` are the plan's tables `arms` and `run`. `names` holds the names of the plan's models,
    prompts and sets of tool definitions. A variant without a name gets a name from the settings in which the
    variants differ.
    """
    mistakes += _find_unknown_names(arms, names)
    single = arms.get("only")
    lists = [name for name in (*_PARTS, "strategy") if arms.get(name)]
    if single and lists:
        advice = f"leave out {' and '.join(lists)}, or [[arms.only]]"
        mistakes.append(Mistake(("arms",), "both single variants and combinations", advice))
    for name in _LISTS:
        if single and len(run.get(name) or ()) > 1:
            advice = f"write one value there, and `{name}` in the variants that differ"
            mistakes.append(
                Mistake(("run", name), "a list makes variants, but [[arms.only]] lists them", advice)
            )
    of_arms = {("arms",), *(("run", name) for name in _LISTS)}
    if any(mistake.key[:length] in of_arms for mistake in mistakes for length in (1, 2)):
        return ()
    chosen = _read_single_arms(single, run) if single else _combine(arms, run, names)
    made = _name_arms(chosen)
    if len(made) > _MOST:
        what = f"makes {len(made):,} variants"
        mistakes.append(Mistake(("arms",), what, f"compare at most {_MOST}: more than a few need many tasks"))
        return ()
    mistakes += _find_bad_names(made, bool(single))
    return tuple(made)


def _find_unknown_names(arms: Mapping[str, Any], names: Mapping[str, Sequence[str]]) -> Iterator[Mistake]:
    for part, singular in _PARTS.items():
        used: list[tuple[KeyPath, str]] = [
            (("arms", part, place), name) for place, name in enumerate(arms.get(part) or ())
        ]
        for place, arm in enumerate(arms.get("only") or ()):
            if isinstance(arm.get(singular), str):
                used.append((("arms", "only", place, singular), arm[singular]))
        for key, name in used:
            if name not in names[part]:
                yield Mistake(key, f'[{part}] has no "{name}"', suggest_name(name, names[part]))


def _read_single_arms(single: Sequence[Mapping[str, Any]], run: Mapping[str, Any]) -> list[dict[str, Any]]:
    shared = {name: run[name][0] for name in _LISTS}
    return [{**shared, **{part: value for part, value in arm.items() if value is not None}} for arm in single]


def _combine(
    arms: Mapping[str, Any], run: Mapping[str, Any], names: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    listed = {singular: tuple(arms.get(part) or names[part]) or (None,) for part, singular in _PARTS.items()}
    listed["strategy"] = tuple(arms.get("strategy") or ("auto",))
    listed |= {name: tuple(run[name]) for name in _LISTS}
    return [dict(zip(listed, values, strict=True)) for values in product(*listed.values())]


def _name_arms(chosen: Sequence[Mapping[str, Any]]) -> list[TrialArm]:
    parts = (*_PARTS.values(), "strategy", *_LISTS)
    differing = [part for part in parts if len({arm.get(part) for arm in chosen}) > 1] or ["model"]
    return [
        TrialArm(
            name=arm.get("name") or "+".join(_name_part(part, arm.get(part)) for part in differing),
            model=arm["model"],
            prompt=arm.get("prompt"),
            definitions=arm.get("definitions"),
            strategy=arm["strategy"],
            compensations=arm["compensations"],
            policy=Policy(arm["accept"]),
            adds_template=arm["template"],
        )
        for arm in chosen
    ]


def _name_part(part: str, value: Any) -> str:
    if part == "template":
        return "template" if value else "no-template"
    return f"compensations-{value}" if part == "compensations" else str(value or f"no-{part}")


def _find_bad_names(made: Sequence[TrialArm], is_single: bool) -> Iterator[Mistake]:
    counted = Counter(arm.name.lower() for arm in made)
    for place, arm in enumerate(made):
        key = ("arms", "only", place, "name") if is_single else ("arms",)
        if counted[arm.name.lower()] > 1:
            what = f'two variants are called "{arm.name}" (ignoring case)'
            yield Mistake(key, what, "give each another `name`")
        if is_reserved_name(arm.name) or arm.name.endswith("."):
            what = f'"{arm.name}" is not a valid folder name on every system'
            yield Mistake(key, what, "give the variant another name")
