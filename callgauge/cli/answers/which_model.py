"""The command `callgauge which-model`: the model to use for each prompt or tool."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from callgauge.cli import render
from callgauge.cli.options.days_option import DaysText, read_calls
from callgauge.cli.options.store_option import Store
from callgauge.cli.render.exit_codes import ExitCode

if TYPE_CHECKING:
    from callgauge.analysis.verdicts.model_choices import ModelChoices

By = Literal["prompt", "tool"]
Format = Literal["text", "json", "litellm", "openrouter"]


def which_model(
    store: Store,
    by: Annotated[
        By, typer.Option("--by", help="Choose a model for each prompt, or for each tool.")
    ] = "prompt",
    days: DaysText = None,
    form: Annotated[
        Format,
        typer.Option("--format", help="The format: litellm and openrouter are routing files."),
    ] = "text",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the result to this file.")
    ] = None,
) -> None:
    """Suggest the cheapest model that is not worse.

    Each prompt or tool gets a suggestion. A model is suggested only if its parse errors and its turn
    success are proven to be at most 2 points worse, and its cost per successful turn is proven to be
    lower. Otherwise the current model is kept.
    """
    with read_calls(store, days, texts=True) as (reader, chosen):
        from callgauge.analysis.comparisons.model_choices import choose_models
        from callgauge.memory.team_memory import TeamMemory
        from callgauge.prices import PriceList

        prices = PriceList(TeamMemory(store).read().prices)
        choices = choose_models(reader.ask, prices, by, chosen.parameters)
    text = _write(choices, chosen.label, form)
    if output is None:
        sys.stdout.write(text)
        return
    from ingest.safe_files import replace_text

    try:
        replace_text(output, text)
    except OSError as problem:
        render.fail(f"cannot write {output}: {problem.strerror}", ExitCode.FAILED)


def _write(choices: ModelChoices, label: Callable[[str, str], str], form: Format) -> str:
    from callgauge.analysis.comparisons.routing_files import WRITERS
    from callgauge.api.questions.model_questions import describe_models

    if form == "text":
        return _write_text(choices, label)
    if form == "json":
        facts, rows = describe_models(choices, label)
        answer: dict[str, Any] = {**facts, "rows": rows}
        return render.to_json(answer) + "\n"
    return WRITERS[form](choices, label)


def _write_text(choices: ModelChoices, label: Callable[[str, str], str]) -> str:
    from callgauge.analysis import wording
    from callgauge.analysis.verdicts.model_choices import (
        describe_choice,
        describe_choices,
        describe_unlisted,
        describe_uses,
        write_saving,
    )

    lines = [describe_choices(choices)]
    for row in choices.rows:
        lines += ["", wording.one_line(label(choices.by, row.name), 100)]
        lines.append(f"  {describe_choice(row, label, choices.smallest)}")
        lines += [f"  {line}" for line in describe_uses(row, label, choices.currency)]
        if row.saving:
            saved = write_saving(row.saving, choices.currency, "95% interval ")
            lines.append(f"  Saved {choices.recent_words}: {saved}")
    if unlisted := describe_unlisted(choices):
        lines += ["", unlisted]
    return "".join(f"{render.escape_for_terminal(line)}\n" for line in lines)
