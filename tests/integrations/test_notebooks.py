"""Tests the functions that return a store's data as data frames."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from starlette.testclient import TestClient

import callgauge
from callgauge.api.questions.store_access import SharedStore
from callgauge.api.routes import make_application
from callgauge.serving.identity import LOCAL_USER, write_headers
from tests.analysis.store_fixture import publish, small_tables
from tests.integrations.conftest import BEFORE
from tests.integrations.distributions import PAGE, ROOT, read_example

ALL = {"days": "all"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small") / "store"
    publish(folder, small_tables())
    return folder


@pytest.fixture(scope="module")
def store(folder: Path) -> Iterator[callgauge.Store]:
    with callgauge.open_store(folder) as opened:
        yield opened


def ask_api(folder: Path, path: str, **query: Any) -> Any:
    headers = {name.decode(): value.decode() for name, value in write_headers(LOCAL_USER)}
    answer = TestClient(make_application(SharedStore(folder)), headers=headers).get(path, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("by", ["model", "prompt", "tool", "host", "day", ("day", "model"), ("tool", "host")])
def test_rates_are_those_of_the_api(store: callgauge.Store, folder: Path, by: str | tuple[str, str]) -> None:
    names = [{"host": "provider"}.get(name, name) for name in ([by] if isinstance(by, str) else by)]
    rates = ["parse_error", "retried", "turn_success"]
    parameters = {"rate": rates, "by": names[0], "days": "all", "limit": 10_000}
    rows = ask_api(folder, "/rates", **parameters, **({"also": names[1]} if len(names) > 1 else {}))["rows"]
    frame = store.rates(by, rates=rates, **ALL)
    dimensions = [by] if isinstance(by, str) else list(by)
    rows_by_day = frame.assign(**{"day": frame.day.dt.strftime("%Y-%m-%d")} if "day" in frame else {})
    for row in rows:
        key = [row["slice"], *([row["also"]] if len(names) > 1 else [])]
        (row_of_frame,) = rows_by_day[(rows_by_day[dimensions] == key).all(axis=1)].to_dict("records")
        rate = row["rate"]
        assert (row_of_frame[f"{rate}_k"], row_of_frame[f"{rate}_n"]) == (row["k"], row["n"])
        assert row_of_frame[f"{rate}_enough"] == row["enough"]
        for column, value in (
            (rate, row["share"]),
            (f"{rate}_low", row["low"]),
            (f"{rate}_high", row["high"]),
        ):
            assert row_of_frame[column] == pytest.approx(
                float("nan") if value is None else value, nan_ok=True
            )
        if rate in ("parse_error", "turn_success"):
            assert row_of_frame["calls" if rate == "parse_error" else "turns"] == row["total"]
    assert len(rows) == 3 * len(frame) > 0


def test_the_columns_have_the_documented_types_whether_or_not_there_are_rows(store: callgauge.Store) -> None:
    for frame in (
        store.rates(("day", "model")),
        store.rates(("day", "model"), since="2031-01-01", until="2031-01-02"),
    ):
        types = {name: str(kind) for name, kind in frame.dtypes.items()}
        expected = {
            "day": "datetime64[s]",
            "model": "str",
            "label": "str",
            "calls": "int64",
            "turns": "int64",
        }
        for rate in ("parse_error", "mended", "retried", "turn_success"):
            expected |= {rate: "float64", f"{rate}_low": "float64", f"{rate}_high": "float64"}
            expected |= {f"{rate}_k": "int64", f"{rate}_n": "int64", f"{rate}_enough": "bool"}
        assert types == expected
        for kind in set(types.values()):
            assert f"`{kind}`" in PAGE


def test_filters_use_the_grammar_of_time_and_names(store: callgauge.Store) -> None:
    by_text = store.rates(since="2026-11-19", until="2026-11-20", model=["falcon-3"])
    by_date = store.rates(since=date(2026, 11, 19), until=date(2026, 11, 20), model="falcon-3")
    pd.testing.assert_frame_equal(by_text, by_date)
    assert (list(by_text.model), list(by_text.calls)) == (["falcon-3"], [43])
    assert len(store.rates(days="2026-11-19")) == 0
    assert list(store.rates(prompt="support@3").model) == ["falcon-3"]


@pytest.mark.thorough
def test_a_comparison_is_that_of_the_api(worse_store: Path) -> None:
    store = callgauge.open_store(worse_store)
    parameters = {"a_model": "kestrel-14b", "b_model": "heron-large", "days": "all"}
    facts = ask_api(worse_store, "/comparison", **parameters)
    comparison = store.compare({"model": "kestrel-14b"}, {"model": "heron-large"}, **ALL)
    assert (comparison.verdict, comparison.sentence) == (facts["verdict"], facts["sentence"])
    assert comparison.difference == pytest.approx(facts["difference"]["estimate"])
    other_days = store.compare({"days": BEFORE}, {"days": "2026-11-19..2026-11-20"})
    assert other_days.difference is not None
    assert other_days.difference > 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"by": "modle"}, "There is no dimension 'modle'. Did you mean model?"),
        ({"by": ()}, "by is one dimension or two different ones"),
        ({"by": ("model", "tool", "day")}, "by is one dimension or two different ones"),
        ({"by": ("host", "provider")}, "by is one dimension or two different ones"),
        ({"since": "soon"}, "is not a day; use today, yesterday"),
        ({"days": "all", "since": "7d"}, "Give days, or since and until; not both."),
        ({"model": "falcon"}, "There is no model 'falcon'. Did you mean falcon-3"),
        ({"rates": ["parse_errors"]}, "There is no rate 'parse_errors'. Did you mean parse_error"),
        ({"tool": "a\0b"}, "contains a NUL"),
    ],
)
def test_a_wrong_question_says_what_to_ask(
    store: callgauge.Store, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(callgauge.StoreQuestionError) as raised:
        store.rates(**parameters)
    assert message in str(raised.value)


def test_a_store_that_cannot_be_read_says_why(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(
        callgauge.StoreQuestionError, match=r"Nothing has been loaded yet.*callgauge ingest PATH"
    ):
        callgauge.open_store(tmp_path)
    (tmp_path / "CURRENT").write_text("gen-000001.duckdb\n")
    (tmp_path / "gen-000001.duckdb").write_bytes(b"\xff" * 5_000)
    with pytest.raises(callgauge.StoreQuestionError, match=r"gen-000001\.duckdb"):
        callgauge.open_store(tmp_path)
    closed = callgauge.open_store(folder)
    closed.close()
    closed.close()
    with pytest.raises(callgauge.StoreQuestionError, match="is closed: open it again"):
        closed.rates()


def test_a_store_that_another_process_has_locked_says_so(tmp_path: Path, folder: Path) -> None:
    generation = tmp_path / (folder / "CURRENT").read_text().strip()
    generation.write_bytes((folder / generation.name).read_bytes())
    (tmp_path / "CURRENT").write_text(f"{generation.name}\n")
    hold = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    words = [sys.executable, "-c", hold, str(generation)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"
        with pytest.raises(callgauge.StoreQuestionError, match=r"(?i)lock"):
            callgauge.open_store(tmp_path)
        holder.communicate("")


def run_script(code: str, cwd: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_of_the_documentation_runs(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "store").symlink_to(folder)
    example = read_example("Notebooks", "python")
    for old, new in (("fixer@12", "support@3"), ("fixer@13", "unknown"), ("edit_file", "read_file")):
        assert old in example
        example = example.replace(old, new)
    assert "NaT" not in (shown := run_script(example, tmp_path))
    assert "2026-11-20" in shown


def test_the_package_itself_imports_nothing_heavy(tmp_path: Path) -> None:
    heavy = ("pandas", "duckdb", "ingest", "importlib.metadata")
    code = f"import sys, callgauge; print([name for name in {heavy} if name in sys.modules])"
    assert run_script(code, tmp_path) == "[]\n"
