"""Tests `callgauge trial run`, `probe` and `demo`."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

from callgauge.cli.trials.commands import trial
from callgauge.trials.results.run_folder import read_ledger
from callgauge.trials.toy_model import serve_toy
from tests.event_loops import call_apart
from tests.gateway.served.brain import Asked, Emitted
from tests.gateway.served.server import ModelServer, serve_model
from tests.store.night import ask
from tests.trials.made_plan import WEATHER, weather_brain

ROOT = Path(__file__).parents[2]
PLAN = """
name = "careful or sloppy"
question = "Which?"
[measure]
primary = "refused"
smallest = 0.1
reference = "careful"
looks = 2
[endpoints.local]
wire = "openai-chat"
url = "{url}"
key = "env:CALLGAUGE_TEST_KEY"
[models.careful]
endpoint = "local"
model = "careful"
[models.sloppy]
endpoint = "local"
model = "sloppy"
[definitions.d]
files = ["tools.json"]
[tools.get_weather]
answers = "recorded"
default = "sunny"
[tasks]
file = "tasks.jsonl"
[arms]
models = ["careful", "sloppy"]
definitions = ["d"]
"""


def brain(request: Asked) -> Emitted:
    if "number" in request.user:
        return Emitted(calls=[("report_number", '{"number": 7}'), ("report_number", '{"number": 8}')])
    return weather_brain({"sloppy": 0.6})(request)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve_model(brain) as served:
        yield served


def write_plan(folder: Path, url: str, tasks: int = 6) -> Path:
    (folder / "tools.json").write_text(json.dumps([WEATHER]))
    lines = [
        json.dumps({"id": f"t{number}", "input": f"How is the weather in City{number}?"})
        for number in range(tasks)
    ]
    (folder / "tasks.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "plan.toml").write_text(PLAN.format(url=url))
    return folder / "plan.toml"


@contextmanager
def started(*words: object, folder: Path, **variables: str) -> Iterator[subprocess.Popen[str]]:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "CALLGAUGE_TEST_KEY": "sk-test-12345678",
        **variables,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "callgauge", "trial", *map(str, words)],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def callgauge(*words: object, folder: Path, **variables: str) -> tuple[int, str, str]:
    """Run the command in this process, because starting a new process takes a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, value in {"CALLGAUGE_TEST_KEY": "sk-test-12345678", **variables}.items():
            patch.setenv(name, value)
        # only the main thread may set a signal handler, so this function does nothing
        patch.setattr(signal, "signal", lambda *_: signal.SIG_DFL)
        result = call_apart(CliRunner().invoke, trial, [*map(str, words)])
    return result.exit_code, result.stdout, result.stderr


def run_process(*words: object, folder: Path, **variables: str) -> tuple[int, str, str]:
    with started(*words, folder=folder, **variables) as process:
        out, err = process.communicate(timeout=240)
    return process.returncode, out, err


def test_a_plan_runs_goes_on_and_is_in_the_store(tmp_path: Path, server: ModelServer) -> None:
    plan = write_plan(tmp_path, server.url)
    code, out, err = callgauge("run", plan, "--limit", 2, folder=tmp_path)
    assert code == 3, err
    assert "run again to continue" in err
    (folder,) = (tmp_path / "runs").iterdir()
    assert re.fullmatch(r"careful-or-sloppy\.[0-9a-f]{8}", folder.name)
    assert len(read_ledger(folder / "ledger.jsonl")) == 4
    requests_before = len(server.requests)
    code, out, err = callgauge("run", plan, "--store", "store", folder=tmp_path)
    assert code == 0, err
    assert list((tmp_path / "runs").iterdir()) == [folder]
    assert "No clear difference between sloppy and careful: invalid calls " in out
    assert "callgauge serve --store store" in err
    assert "number" not in "".join(request.user for request in server.requests[requests_before:]), (
        "models are probed once"
    )
    counted = ask(tmp_path / "store", "SELECT arm, count(*)::INT FROM turns GROUP BY ALL ORDER BY ALL")
    assert counted == [("careful", 6), ("sloppy", 6)]
    assert ask(tmp_path / "store", "SELECT count(*)::INT FROM rejects") == [(0,)]
    assert (folder / "report.json").exists()
    code, _, _ = callgauge("run", plan, "--anew", "--limit", 1, folder=tmp_path)
    assert (code, len(list((tmp_path / "runs").iterdir()))) == (3, 2)


def test_what_differs_is_refused_with_the_next_step(tmp_path: Path, server: ModelServer) -> None:
    plan = write_plan(tmp_path, server.url)
    callgauge("run", plan, "--limit", 1, folder=tmp_path)
    plan.write_text(plan.read_text().replace("smallest = 0.1", "smallest = 0.2"))
    code, _, err = callgauge("run", plan, folder=tmp_path)
    assert code == 2
    assert "measure.smallest: 0.1 → 0.2" in err
    assert "--anew" in err


def test_mistakes_are_named_before_anything_is_asked(tmp_path: Path, server: ModelServer) -> None:
    plan = write_plan(tmp_path, server.url)
    for text, reason in (
        (PLAN.replace("smallest = 0.1", "smalest = 0.1"), "smalest"),
        (PLAN.replace("env:CALLGAUGE_TEST_KEY", "sk-ant-" + "a1b2c3d4e5" * 4), "env:"),
        (PLAN + f'[prompts.p]\ntext = "use sk-ant-{"a1b2c3d4e5" * 4}"\n', "looks like a secret"),
    ):
        plan.write_text(text.replace("{url}", server.url))
        shown = CliRunner().invoke(trial, ["run", str(plan)])
        assert (shown.exit_code, reason in shown.stderr) == (2, True), shown.stderr
    assert CliRunner().invoke(trial, ["run", str(tmp_path / "none.toml")]).exit_code == 2
    plan.write_text(
        PLAN.replace("env:CALLGAUGE_TEST_KEY", "env:CALLGAUGE_NO_SUCH_KEY").format(url=server.url)
    )
    code, _, err = callgauge("run", plan, folder=tmp_path)
    assert (code, "no such variable" in err, "Traceback" in err) == (2, True, False), err
    shown = call_apart(CliRunner().invoke, trial, ["probe", str(plan)])
    assert (shown.exit_code, "no such variable" in shown.stderr) == (2, True)
    assert not server.requests


def test_places_that_cannot_be_written_are_refused_before_anything_is_asked(
    tmp_path: Path, server: ModelServer
) -> None:
    plan = write_plan(tmp_path, server.url)
    for words, reason in (
        (
            ("--out", plan),
            "cannot be the folder of runs: File exists; name another place with --out",
        ),
        (("--out", plan, "--redact"), "name another place with --out"),
        (("--out", plan / "below"), "name another place with --out"),
        (("--store", plan), "plan.toml is a file, not a folder; name another place with --store"),
        (("--store", tmp_path), "contains other files and no store"),
    ):
        code, _, err = callgauge("run", plan, *words, folder=tmp_path)
        assert (code, reason in err, "Traceback" in err) == (2, True, False), err
    code, _, err = callgauge("demo", plan, folder=tmp_path)
    assert (code, "callgauge trial demo DIR" in err) == (2, True), err
    assert not server.requests


@pytest.mark.parametrize("key", ["密钥密钥密钥密钥", "sk-test-12345678\n"])
def test_a_key_that_no_header_may_hold_is_refused(tmp_path: Path, server: ModelServer, key: str) -> None:
    plan = write_plan(tmp_path, server.url)
    code, _, err = callgauge("run", plan, folder=tmp_path, CALLGAUGE_TEST_KEY=key)
    assert (code, "Traceback" in err, key.strip() in err) == (2, False, False), err
    problem = "the key has characters that a header cannot have (a line break, a letter outside ASCII)"
    assert f"endpoints.local: {problem}; set its variable again" in err
    assert not server.requests


def test_a_server_that_is_not_there_is_code_1(tmp_path: Path) -> None:
    with serve_model(lambda _: Emitted(status=404, body={"error": "no such model"})) as served:
        code, _, err = callgauge("run", write_plan(tmp_path, served.url), folder=tmp_path)
    assert code == 1
    assert "variant careful stopped early" in err
    assert "404" in err


@pytest.mark.thorough
def test_ctrl_c_waits_for_what_is_under_way(tmp_path: Path) -> None:
    def slow(request: Asked) -> Emitted:
        emitted = brain(request)
        return Emitted(emitted.text, emitted.calls, slow=0.1)

    with serve_model(slow) as served:
        with started("run", write_plan(tmp_path, served.url, tasks=200), folder=tmp_path) as process:
            wait_for_trials(tmp_path, 4)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=240)
        assert process.returncode == signal.SIGINT + 128
        assert "stopping after the running trials" in err
    (folder,) = (tmp_path / "runs").iterdir()
    ended = read_ledger(folder / "ledger.jsonl")
    assert 4 <= len(ended) < 100
    assert len(list(folder.rglob("sessions/*/*.jsonl"))) == len(ended)


@pytest.mark.thorough
def test_ctrl_c_twice_stops_at_once(tmp_path: Path) -> None:
    def stuck(request: Asked) -> Emitted:
        emitted = brain(request)
        return Emitted(emitted.text, emitted.calls, slow=60.0 if "City7" in request.user else 0.0)

    with serve_model(stuck) as served:
        with started("run", write_plan(tmp_path, served.url, tasks=40), folder=tmp_path) as process:
            wait_for_trials(tmp_path, 4)
            process.send_signal(signal.SIGINT)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=50)
        assert process.returncode == signal.SIGINT + 128
        assert "Traceback" not in err


def wait_for_trials(folder: Path, number: int) -> None:
    until = time.monotonic() + 120
    while True:
        ledgers = list(folder.glob("runs/*/ledger.jsonl"))
        if ledgers and len(ledgers[0].read_bytes().splitlines()) >= number:
            return
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.mark.thorough
def test_probe_prints_a_row_for_each_model(tmp_path: Path, server: ModelServer) -> None:
    plan = write_plan(tmp_path, server.url)
    code, out, err = run_process("probe", plan, "--json", folder=tmp_path)
    assert code == 0, err
    probes = json.loads(out)
    assert probes.keys() == {"careful", "sloppy"}
    assert probes["careful"]["capabilities"]["supports_tool_use"] == {"value": True, "known_by": "probed"}
    assert not (tmp_path / "runs").exists()


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    folder = tmp_path_factory.mktemp("demo")
    code, out, err = run_process("demo", folder=folder)
    assert code == 0, err
    return folder / "callgauge-demo", out, err


def test_the_demo_ends_with_a_verdict_and_a_dashboard(shown: tuple[Path, str, str]) -> None:
    folder, out, err = shown
    assert "By definitions, new is better than old: invalid calls " in out
    # the progress lines are left out
    on_screen = [line for line in (out + err).splitlines() if " trials  " not in line]
    assert len(on_screen) <= 22, "the demo's output fits one screen"
    assert "callgauge serve --store callgauge-demo/store" in err
    (run,) = (folder / "runs").iterdir()
    outcomes = read_ledger(run / "ledger.jsonl")
    rows = ask(folder / "store", "SELECT arm, count(*)::INT FROM turns GROUP BY ALL ORDER BY ALL")
    assert dict(rows) == {
        arm: sum(outcome.arm == arm for outcome in outcomes) for arm in {outcome.arm for outcome in outcomes}
    }
    assert len(rows) == 4
    assert sum(count for _, count in rows) < 400, "variants that were decided early are not completed"
    assert ask(folder / "store", "SELECT decision, count(*)::INT FROM trial_looks GROUP BY ALL ORDER BY ALL")
    refused = "SELECT count(*)::INT FROM tool_calls WHERE fault_layer IN ('syntax', 'schema')"
    assert ask(folder / "store", refused) == [(sum(outcome.refused for outcome in outcomes),)]


@pytest.mark.thorough
def test_the_demo_can_be_changed_and_run_again(shown: tuple[Path, str, str], tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(shown[0], folder, ignore=shutil.ignore_patterns("store", "runs"))
    plan = folder / "plan.toml"
    tasks = (folder / "tasks.jsonl").read_text().splitlines(keepends=True)
    (folder / "tasks.jsonl").write_text("".join(tasks[:4]))
    with serve_toy() as port:
        text = re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{port}", plan.read_text())
        plan.write_text(text)
        code, _, err = callgauge("demo", "mine", folder=tmp_path)
        assert (code, "Address already in use" in err) == (2, True)
    code, _, err = callgauge("demo", "mine", folder=tmp_path)
    assert code == 0, err
    plan.write_text(text.replace("smallest = 0.10", "smallest = 0.20"))
    assert callgauge("demo", "mine", folder=tmp_path)[0] == 0
    assert len(list((folder / "runs").iterdir())) == 2
    plan.write_text(text.replace("[endpoints.toy]", "[endpoints.other]").replace('"toy"', '"other"'))
    code, _, err = callgauge("demo", "mine", folder=tmp_path)
    assert (code, "[endpoints.toy]" in err) == (2, True)
