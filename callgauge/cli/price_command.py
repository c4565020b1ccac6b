"""The command `callgauge prices`: store a team's prices, and list the current prices."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from callgauge.cli import render
from callgauge.cli.options.store_option import Store
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.cli.render.price_lines import price_lines
from callgauge.memory.memory_file import MemoryProblemError
from callgauge.memory.team_memory import TeamMemory
from callgauge.prices import PriceFileError, PriceList, read_price_file


def prices(
    store: Store,
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            readable=False,
            help="Prices per million tokens, CSV or JSON: model, from_day, input, output; optional: "
            "cached_input, cache_write, currency. They replace the team's earlier prices.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Store your own model prices, or list the current prices.

    The list names the models without a price, too.
    """
    from ingest.store.generations import published_generation
    from ingest.store.reader import read_models

    generation = published_generation(store)
    if generation is None:
        render.fail_in_lines(
            f"{store} is empty; run `callgauge ingest PATH --store {store}` first", ExitCode.FAILED
        )
    memory = TeamMemory(store)
    try:
        if file is not None:
            memory.replace_prices(read_price_file(file))
        price_list = PriceList(memory.prices())
    except PriceFileError as problem:
        render.fail_in_lines(str(problem), ExitCode.WRONG_USE)
    except MemoryProblemError as problem:
        render.fail_in_lines(str(problem), ExitCode.FAILED)
    used = read_models(generation)
    if as_json:
        print(render.to_json(_describe(price_list, used)))
    else:
        print("\n".join(price_lines(price_list, used)))


def _describe(price_list: PriceList, used: dict[str, int]) -> dict[str, object]:
    matches = {model: price_list.match(model) for model in used}
    return {
        "currency": price_list.currency,
        "prices": [{"owner": owner, **asdict(price)} for owner, price in price_list.listed()],
        "models": [
            {
                "model": model,
                "model_calls": calls,
                "owner": match.owner if match else None,
                "price": match.prices[0].model if match else None,
                "matched": match.how if match else None,
            }
            for (model, calls), match in zip(used.items(), matches.values(), strict=True)
        ],
    }
