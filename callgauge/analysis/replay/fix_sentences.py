"""Writes the sentences on edits that fix a tool definition. They contain log content."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from callgauge.analysis import wording
from callgauge.analysis.replay.fix_results import (
    DefinitionFix,
    EditEffect,
    EditKind,
    LeftOut,
    Missing,
    RejectedFix,
    ToolFixes,
)
from callgauge.stats import ENOUGH, ENOUGH_SESSIONS

_LONGEST = 60  # maximum number of characters of a name or a value
_NAMED = 5  # maximum number of tools that a sentence on many tools names
_CONDITIONS = {
    EditKind.UNIT: "if models then send the number alone",
    EditKind.EXAMPLE: "if models then send the declared type",
}
_WRONG = {
    EditKind.TYPE: "send another type in valid JSON",
    EditKind.ENUM: "send this value in valid JSON",
    EditKind.UNIT: "send a text with a unit in valid JSON",
    EditKind.EXAMPLE: "send the type of the example in valid JSON",
}
_MISSING = {
    Missing.CALLS: "No call of {name} is in this selection. Choose more days or other filters.",
    Missing.SERVERS: "{name} is a tool of several MCP servers ({servers}), which may have different "
    "definitions. Choose one MCP server.",
    Missing.DEFINITION: "No log has the definition of {name}. Add definitions with: "
    "callgauge ingest PATH --tools FILE --store DIR",
    Missing.UNREADABLE: "The stored definition of {name} cannot be read as a JSON Schema, so no edit can be "
    "proposed.",
    Missing.TEXTS: "The store has no readable arguments of {name}, so no call can be replayed. The content "
    "is hidden, deleted or not in the logs, or no call has a definition.",
}


def write_fix_answer(result: ToolFixes) -> str:
    """Return the sentence that answers whether and how the definition of a tool can be fixed."""
    name = _shorten(result.tool)
    if result.fixes:
        has_few = result.missing and not (result.effect and result.effect.fixed)
        # A replay of so few calls does not show that no call would fail.
        effect = describe_effect(None if has_few else result.effect, result.tokens, len(result.fixes))
        return f"{name}: {effect} {_describe_missing(result)}" if has_few else f"{name}: {effect}"
    if result.missing:
        return _describe_missing(result)
    only = next((each for each in result.rejected if each.reason is LeftOut.ONE_MODEL), None)
    if only:
        return f"{name}: no edit is proposed. {describe_rejected(only)}"
    return (
        f"{name}: {wording.plural(result.checked, 'checked call')} suggest no edit of the definition. An "
        "error suggests an edit only if it occurs in more than 2% of calls, and more often than at similar "
        f"parameters.{_describe_older(result)}"
    )


def describe_effect(effect: EditEffect | None, tokens: int, edits: int) -> str:
    """Return a sentence with the effect of edits on calls and on tokens."""
    these = "This edit" if edits == 1 else f"These {edits} edits"
    parts = [_describe_fixed(these, effect)] if effect and effect.fixed else []
    if tokens and not parts:
        verb = "save" if tokens > 0 else "cost"
        parts.append(f"{these} would {verb} {wording.plural(abs(tokens), 'token')} per step")
    elif tokens:
        parts.append(f"{_count_tokens(tokens)} per step")
    if effect:
        others = wording.plural(effect.would_fail, "other call") if effect.would_fail else "no other call"
        parts.insert(1, f"{others} would fail")
    sampled = f" (in a sample of one session in {effect.every})" if effect and effect.every > 1 else ""
    return f"{'; '.join(parts)}{sampled}." if parts else f"{these} would fix no call."


def _describe_fixed(these: str, effect: EditEffect) -> str:
    counts = [
        f"{fixed:,} of {wording.plural(total, f'{kind} call')}"
        for kind, fixed, total in (
            ("repaired", effect.repaired_fixed, effect.repaired),
            ("failed", effect.failed_fixed, effect.failed),
        )
        if fixed
    ]
    # Two counts share the noun: "195 of 373 repaired and 25 of 97 failed calls".
    if len(counts) == 2:
        counts[0] = counts[0].rsplit(" ", 1)[0]
    sentence = f"{these} would have made {' and '.join(counts)} clean"
    if effect.conditional == effect.fixed:
        return f"{sentence}, if models then send what the definition asks for"
    if effect.conditional:
        return f"{sentence} ({effect.conditional:,} only if models then send what the definition asks for)"
    return sentence


def _count_tokens(saved: int) -> str:
    return f"{wording.plural(abs(saved), 'token')} {'less' if saved > 0 else 'more'}"


def _describe_missing(result: ToolFixes) -> str:
    name, servers = _shorten(result.tool), wording.list_words([_shorten(each) for each in result.servers[:5]])
    if result.missing in _MISSING:
        return _MISSING[result.missing].format(name=name, servers=servers)
    was = "was" if result.checked == 1 else "were"
    return (
        f"Not enough data on {name}: {result.checked:,} of {wording.plural(result.calls, 'call')} {was} "
        f"checked against the newest definition, in {wording.plural(result.sessions, 'session')}; "
        f"{ENOUGH} calls and {ENOUGH_SESSIONS} sessions are needed.{_describe_older(result)}"
    )


def _describe_older(result: ToolFixes) -> str:
    if not result.older:
        return ""
    calls = wording.plural(result.older, "more call")
    return f" {calls} had another definition and count only for parameters that did not change."


# --- single edits --------------------------------------------------------------------------------------


def title_fix(fix: DefinitionFix) -> str:
    """Return an edit as a short phrase, such as "limit: accept integer or string"."""
    name = _shorten(fix.parameter)
    words = [_shorten(word) for word in fix.words]
    if fix.kind is EditKind.TYPE:
        return f"{name}: also accept {wording.list_words(words, 'or')}"
    if fix.kind is EditKind.ENUM:
        return f"{name}: add the value {words[0]}"
    if fix.kind is EditKind.UNIT:
        return f"{name}: name the unit ({words[0]})"
    if fix.kind is EditKind.EXAMPLE:
        return f"{name}: give the example in the declared type ({', '.join(words)})"
    if fix.kind is EditKind.DROP:
        return f"{name}: drop the parameter"
    return f"Remove {wording.list_words(words)}"


def describe_evidence(fix: DefinitionFix) -> str:
    """Return the evidence for an edit, and the condition for its effect, in one or two sentences."""
    tokens = f"{_count_tokens(fix.tokens)} per step." if fix.tokens else ""
    if fix.kind is EditKind.SHORTEN:
        return f"The texts have no meaning for a model. {tokens}".strip()
    if fix.kind is EditKind.DROP:
        return (
            f"No call of {fix.n:,} checked calls sends the parameter; more than "
            f"{wording.percent(fix.high)} of calls would show. {tokens}"
        ).strip()
    low, high = wording.percent(fix.low).rstrip("%"), wording.percent(fix.high)
    share = (
        f"{fix.calls:,} of {fix.n:,} checked calls ({wording.rate(fix.calls, fix.n)}, 95% interval "
        f"{low}–{high}) {_WRONG[fix.kind]}{_describe_usual(fix.usual)}."
    )
    condition = f" {_CONDITIONS[fix.kind]}" if fix.kind.is_conditional else ""
    fixed = f"{fix.fixed:,} of the {fix.calls:,} calls would be clean{condition}."
    return " ".join(filter(None, (share, _list_models(fix), fixed, _describe_check(fix))))


def _describe_usual(usual: float | None) -> str:
    if usual is None:
        return ""
    if not usual:
        return "; similar parameters never have this error"
    return f"; similar parameters have this error in {wording.percent(usual)} of the calls that send them"


def _describe_check(fix: DefinitionFix) -> str:
    """Return what to check in the tool before the edit is made, or "" if there is nothing to check."""
    name, words = _shorten(fix.parameter), [_shorten(word) for word in fix.words]
    if fix.kind is EditKind.UNIT:
        return f"Before this edit, make sure that the tool reads {name} in this unit ({words[0]})."
    if fix.kind is EditKind.TYPE:
        sent = f"a value of type {wording.list_words(words, 'or')}"
    elif fix.kind is EditKind.ENUM:
        sent = f"the value {words[0]}"
    else:
        return ""
    return f"After this edit, models may send {sent} for {name}: make sure that the tool accepts it."


def _list_models(fix: DefinitionFix) -> str:
    counts = sorted(fix.by_model, key=lambda each: -each.calls / each.n)
    named = [each for each in counts if each.calls][:3]
    if len(fix.by_model) < 2 or not named:
        return ""
    words = [f"{_shorten(each.model)} {each.calls:,} / {each.n:,}" for each in named]
    return f"By model, among calls that send the parameter: {', '.join(words)}."


def describe_rejected(rejected: RejectedFix) -> str:
    """Return why an edit that many calls suggest is not proposed."""
    fix = rejected.fix
    title = title_fix(fix)
    if rejected.reason is LeftOut.WOULD_FAIL:
        if fix.kind is EditKind.DROP:
            return f"{title}: not proposed, because calls with another definition send the parameter."
        return f"{title}: not proposed, because other calls would fail or need repair."
    if rejected.reason is LeftOut.NOTHING_FIXED:
        return f"{title}: not proposed, because no call would become clean."
    count = next((each for each in fix.by_model if each.model == rejected.model), None)
    calls = f" ({count.calls:,} of {count.n:,} calls)" if count else ""
    return (
        f"{title}: not proposed, because only {_shorten(rejected.model)} clearly makes this error{calls}. "
        "The cause is more likely the model than the definition."
    )


def write_overall_answer(results: Sequence[ToolFixes]) -> str:
    """Return one sentence on the edits of all tools. `results` holds the results of all searched tools."""
    if not results:
        return f"No tool has {ENOUGH} calls in this selection. Choose more days or other filters."
    proposed = [result for result in results if result.fixes]
    if not proposed:
        judged = sum(not result.missing for result in results)
        if not judged:
            return "No tool has enough data to suggest an edit of its definition."
        tools = wording.plural(judged, "tool")
        return f"The calls of {tools} with a known definition suggest no edit of a definition."
    edits = sum(len(result.fixes) for result in proposed)
    fixed = sum(result.effect.fixed for result in proposed if result.effect)
    tokens = sum(result.tokens for result in proposed)
    parts = [f"{wording.plural(fixed, 'call')} would have been clean"] if fixed else []
    if tokens:
        steps = "per step" if len(proposed) == 1 else "per step that offers all these tools"
        parts.append(f"{_count_tokens(tokens)} {steps}")
    are = "edit is" if edits == 1 else "edits are"
    tools = f"{len(proposed):,} of {wording.plural(len(results), 'tool')}"
    return f"{edits} {are} proposed for {tools} with at least {ENOUGH} calls: {'; '.join(parts)}."


def list_missing(results: Sequence[ToolFixes]) -> list[str]:
    """Return a sentence for each reason why tools have no edits: what is missing, and for which tools."""
    by_reason: dict[Missing, list[ToolFixes]] = {}
    for result in results:
        if result.missing and not result.fixes:
            by_reason.setdefault(result.missing, []).append(result)
    return [_describe_group(reason, group) for reason, group in by_reason.items()]


def _describe_group(reason: Missing, results: Sequence[ToolFixes]) -> str:
    """Return a sentence on tools without edits for the same reason."""
    if reason is Missing.DEFINITION:
        return _MISSING[reason].format(name=_name_tools(results))
    first, *others = results
    same = f" The same is true of {_name_tools(others)}." if others else ""
    return f"{_describe_missing(first)}{same}"


def _name_tools(results: Sequence[ToolFixes]) -> str:
    names = [_shorten(result.tool) for result in results[:_NAMED]]
    more = len(results) - len(names)
    return wording.list_words([*names, wording.plural(more, "more tool")] if more else names)


def _shorten(text: str) -> str:
    return wording.one_line(text, _LONGEST)


def fix_data(result: ToolFixes) -> dict[str, object]:
    """Return a result as plain data for JSON, with its sentences."""
    return {
        "tool": result.tool,
        "answer": write_fix_answer(result),
        "missing": result.missing,
        "calls": result.calls,
        "checked_calls": result.checked,
        "effect": asdict(result.effect) if result.effect else None,
        "tokens_saved_per_step": result.tokens,
        "edits": [
            {
                "key": fix.key, "kind": fix.kind, "parameter": fix.parameter, "title": title_fix(fix),
                "evidence": describe_evidence(fix), "calls": fix.calls, "n": fix.n, "low": fix.low,
                "high": fix.high, "usual": fix.usual, "fixed": fix.fixed, "tokens_saved": fix.tokens,
            }
            for fix in result.fixes
        ],
        "not_proposed": [describe_rejected(each) for each in result.rejected],
    }  # fmt: skip
