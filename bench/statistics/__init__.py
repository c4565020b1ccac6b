"""Simulates the statistics of the pages: coverage, false alarms and power, each with its simulation error."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator

from bench.replay import fix_cells
from bench.statistics import (
    alert_cells,
    change_cells,
    day_cells,
    gate_cells,
    host_cells,
    interaction_cells,
    model_cells,
    page,
    rate_cells,
    rule_cells,
    strata_cells,
    table_cells,
    task_cells,
    trial_cells,
)
from bench.statistics.cells import Cell

Simulation = Callable[..., Iterator[Cell]]
# Each simulation has two numbers of repetitions per setting: for selected settings, and for the whole grid.
SIMULATIONS: dict[str, tuple[Simulation, int, int]] = {
    "rates": (rate_cells.cover_rates, 4000, 4000),
    "rates_of_tables": (rate_cells.cover_tables, 6000, 6000),
    "differences": (rate_cells.cover_differences, 2000, 3000),
    "tables": (table_cells.count_false_tables, 1000, 1000),
    "power": (table_cells.find_doubled_arm, 600, 1000),
    "ranks": (table_cells.cover_ranks, 500, 1000),
    "best": (table_cells.name_best, 300, 1000),
    "days": (day_cells.cells, 300, 300),
    "parts": (strata_cells.cover_parts, 1000, 1000),
    "mixes": (strata_cells.rank_mixed, 600, 500),
    "breakdowns": (interaction_cells.count_false_names, 400, 300),
    "interactions": (interaction_cells.find_interaction, 400, 500),
    "tasks": (task_cells.cells, 500, 1000),
    "trials": (trial_cells.judge_trials, 1000, 4000),
    "changes": (change_cells.cells, 300, 500),
    "alerts": (alert_cells.cells, 30, 30),
    "hosts": (host_cells.cells, 1000, 2000),
    "gates": (gate_cells.cells, 600, 600),
    "rules": (rule_cells.cells, 60, 60),
    "models": (model_cells.cells, 400, 600),
    "definition_fixes": (fix_cells.cells, 200, 400),
}


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    names = options.only or list(SIMULATIONS)
    started = time.perf_counter()
    cells_by_name: dict[str, list[Cell]] = {}
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        jobs = [(name, options.whole, options.seed) for name in names]
        for name, cells in pool.imap_unordered(_simulate, jobs):
            cells_by_name[name] = cells
            outside = [cell for cell in cells if cell.leaves_band]
            print(f"{name}: {len(cells)} cells, {len(outside)} outside of their band", flush=True)
            for cell in cells if options.all else outside:
                print(f"  {cell.topic}: {cell.setting}: {cell.share:.1%}", flush=True)
    minutes = (time.perf_counter() - started) / 60
    print(f"{sum(map(len, cells_by_name.values()))} cells in {minutes:.1f} min")
    if options.write:
        ordered = {name: cells_by_name[name] for name in names}
        page.PAGE.write_text(page.write_page(ordered, minutes, whole=options.whole))
    return int(any(cell.leaves_band for cells in cells_by_name.values() for cell in cells))


def _simulate(job: tuple[str, bool, int]) -> tuple[str, list[Cell]]:
    name, whole, seed = job
    simulation, few, many = SIMULATIONS[name]
    return name, list(simulation(many if whole else few, whole=whole, seed=seed))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./dev bench statistics", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(SIMULATIONS), metavar="NAME", help="only these")
    parser.add_argument("--whole", action="store_true", help="the whole grid (hours), not the named subset")
    parser.add_argument("--all", action="store_true", help="print every cell, not only those outside")
    parser.add_argument("--write", action="store_true", help="write docs/internal/benchmarks_statistics.md")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    return parser
