"""Tests that readers always see a complete store file, and that loads do not wait for readers."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pytest

from ingest.pipeline.load import load
from ingest.store.generations import published_generation
from tests.store.night import count, session

# This reader works like a dashboard. When CURRENT names a new store file, the reader opens a new connection.
READER = """
import sys, time
from pathlib import Path
import duckdb
store, stop = Path(sys.argv[1]), Path(sys.argv[2])
name, con = None, None
while not stop.exists():
    current = (store / "CURRENT").read_text().strip()
    if current != name:
        if con is not None:
            con.close()
        name, con = current, duckdb.connect(str(store / current), read_only=True)
    calls, rolled = con.execute(
        "SELECT (SELECT count(*) FROM tool_calls WHERE NOT duplicate), (SELECT sum(calls) FROM daily_calls)"
    ).fetchone()
    assert calls == rolled, (calls, rolled)
    print(time.time(), name, calls, flush=True)
    time.sleep(0.005)
"""


@contextmanager
def reading(store: Path, answers: list[tuple[float, str, int]]) -> Iterator[None]:
    """Query a store repeatedly in another process. After the block, the list has the results (time, store
    file, calls).
    """
    stop = store.parent / "stop"
    with subprocess.Popen(
        [sys.executable, "-c", READER, str(store), str(stop)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as reader:
        assert reader.stdout is not None
        first = reader.stdout.readline()
        assert first, "the reader did not start"
        try:
            yield
        finally:
            stop.write_text("")
            output, errors = reader.communicate(timeout=240)
    assert errors == ""
    assert reader.returncode == 0
    for line in [first, *output.splitlines()]:
        moment, name, calls = line.split()
        answers.append((float(moment), name, int(calls)))


@pytest.mark.thorough
def test_a_reader_answers_during_loads_and_sees_each_generation_whole(logs: Path, store: Path) -> None:
    (logs / "0.jsonl").write_text(session("s0"))
    load([logs], store)
    answers: list[tuple[float, str, int]] = []
    loads: list[tuple[float, float]] = []
    with reading(store, answers):
        for number in range(1, 5):
            (logs / f"{number}.jsonl").write_text(session(f"s{number}", turns=(5,) * 20, day=number))
            began = time.time()
            load([logs], store)
            loads.append((began, time.time()))
            time.sleep(0.2)
    calls = [calls for _, _, calls in answers]
    assert calls == sorted(calls)
    assert [name for _, name, _ in answers][-1] == (store / "CURRENT").read_text().strip()
    assert calls[-1] == count(store, "tool_calls")
    assert len({name for _, name, _ in answers}) >= 4
    for began, ended in loads:
        assert [moment for moment, _, _ in answers if began < moment < ended], "no answer during a load"


@pytest.mark.thorough
def test_an_open_reader_keeps_its_generation_after_it_was_removed(logs: Path, store: Path) -> None:
    (logs / "0.jsonl").write_text(session("s0", turns=(2,)))
    load([logs], store)
    first = published_generation(store)
    assert first is not None
    with duckdb.connect(str(first), read_only=True) as con:
        for number in range(1, 4):
            (logs / f"{number}.jsonl").write_text(session(f"s{number}"))
            load([logs], store)
        assert not first.exists()
        assert con.execute("SELECT count(*) FROM tool_calls").fetchone() == (2,)


LOADER = """
import sys
from pathlib import Path
from ingest.errors import StoreBusy
from ingest.pipeline.load import load
try:
    print(load([Path(sys.argv[1])], Path(sys.argv[2])).generation)
except StoreBusy:
    print("busy")
"""


@pytest.mark.thorough
def test_of_loads_at_the_same_time_one_runs_and_the_others_are_told(logs: Path, store: Path) -> None:
    for number in range(5):
        (logs / f"{number}.jsonl").write_text(
            "".join(session(f"s{number}-{i}", turns=(9,) * 9) for i in range(9))
        )
    command = [sys.executable, "-c", LOADER, str(logs), str(store)]
    loads = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = sorted(process.communicate(timeout=240)[0].strip() for process in loads)
    assert [process.returncode for process in loads] == [0, 0, 0]
    # The second load starts after the first has finished, so it finds no new files.
    assert answers.count("gen-000001.duckdb") == 1
    assert set(answers) <= {"gen-000001.duckdb", "busy", "None"}
    assert count(store, "tool_calls") == 5 * 9 * 81
    assert not list(store.glob("building*"))
