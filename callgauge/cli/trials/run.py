"""The commands `callgauge trial probe`, `trial run` and `trial demo`.

During a trial run, a separate process loads the logs into the store, so an open dashboard shows the trials
live.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from callgauge.cli import render
from callgauge.cli.options.store_option import STORE_METAVAR, find_store
from callgauge.cli.render.exit_codes import ExitCode
from callgauge.cli.render.trials import show_run
from callgauge.cli.trials.plans import PlanFile, load_plan

if TYPE_CHECKING:
    from callgauge.trials.planning.plan import Plan
    from callgauge.trials.planning.task import Task
    from callgauge.trials.running.run import RunEnd

_HEARD = b"\ncallgauge: stopping after the running trials; Ctrl-C again stops immediately\n"

Out = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="The folder of all trial runs, or of one run.")
]
Store = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar=STORE_METAVAR,
        parser=find_store,
        help="Load the run into this store every 30 s, so that an open dashboard shows it.",
    ),
]
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help="Run at most N tasks this time.")]
Anew = Annotated[bool, typer.Option("--anew", help="Start a new run, even if one exists.")]
Redact = Annotated[
    bool,
    typer.Option("--redact", help="Write logs without secrets and personal data, like `ingest --redact`."),
]
_AS_THEY_ARE = ("sessionId", "ts", "type")
EVERY = 30.0  # The seconds between two loads.
_FIRST = 5.0  # The first load comes early, so that the dashboard soon shows something.
CALLGAUGE = (sys.executable, "-P", "-m", "callgauge")
"""Starts `callgauge` in a separate process, which needs `child_environment()`."""
_LINES = 3  # This many lines of a failed load's output are printed.


def probe(
    plan_file: PlanFile,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="Also test the JSON fallback, strict definitions, answers by a schema and seeds."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Test what each model of a plan can do with tools.

    Each model gets a few short questions. Exits with 1 if a model could not be reached.
    """
    from callgauge.trials.results.outcomes import price_reply
    from callgauge.trials.running.run import probe_models
    from callgauge.trials.running.run_files import RunError

    plan, _ = load_plan(plan_file)
    try:
        results = _run_async(probe_models(plan, is_full=full))
    except RunError as problem:
        render.fail_in_lines(str(problem), ExitCode.WRONG_USE)
    rows = []
    for name, result in results.items():
        model = plan.models[name]
        rows.append(render.ProbeRow(name, result, price_reply(result.tokens, model.price)))
    render.print_probes(rows, as_json=as_json)


def run(
    plan_file: PlanFile,
    out: Out = Path("runs"),
    store: Store = None,
    limit: Limit = None,
    anew: Anew = False,
    redact: Redact = False,
) -> None:
    """Run the trials of a plan, or continue an unfinished run.

    Exits with 0 if the run is complete, with 1 if no model could be reached, with 3 if it stopped early
    (budget, --limit, an endpoint or the disk). The same command continues a stopped run. Ctrl-C waits for
    running trials, Ctrl-C twice stops immediately; both exit with 130.
    """
    plan, tasks = load_plan(plan_file)
    end = _run_plan(plan, tasks, out, store, limit=limit, is_new=anew, redacts=redact)
    _print_end(end, store)
    raise typer.Exit(end.code)


def demo(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The folder of the demo's plan, run and store.")
    ] = Path("callgauge-demo"),
    serve: Annotated[bool, typer.Option("--serve", help="Then serve the dashboard.")] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="The dashboard's port, with --serve.")] = 8501,
) -> None:
    """Run a demo trial: two toy models, two definitions, a verdict.

    It needs no key and no network, and takes half a minute. The toy models are local scripts that make random
    mistakes. Change the plan, the definitions or the tasks in DIR and run the demo again: a changed plan
    starts a new run.
    """
    from callgauge.trials.demo import PLAN, toy_port, write_demo
    from callgauge.trials.toy_model import serve_toy

    store = folder / "store"
    with ExitStack() as stack:
        try:
            if (folder / PLAN).exists():
                plan, tasks = load_plan(folder / PLAN)
                at = toy_port(plan)
                if at is None:
                    render.fail_in_lines(
                        f"{folder / PLAN} has no [endpoints.toy] on http://127.0.0.1:PORT", ExitCode.WRONG_USE
                    )
                stack.enter_context(serve_toy(at))
            else:
                write_demo(folder, stack.enter_context(serve_toy()))
                plan, tasks = load_plan(folder / PLAN)
        except OSError as problem:
            reason = f"{problem.strerror or problem}; name another folder: callgauge trial demo DIR"
            render.fail_in_lines(f"the demo cannot start in {folder}: {reason}", ExitCode.WRONG_USE)
        render.print_message(f"toy models, {len(plan.arms)} variants, {len(tasks)} tasks: {folder / PLAN}")
        end = _run_plan(plan, tasks, folder / "runs", store, may_change=True)
    _print_end(end, None if serve else store)
    if serve and end.code == 0:
        command = [*CALLGAUGE, "serve", "--store", str(store), "--port", str(port)]
        os.execve(sys.executable, command, child_environment())  # noqa: S606 - no shell is the point
    raise typer.Exit(end.code)


def _run_plan(
    plan: Plan,
    tasks: tuple[Task, ...],
    out: Path,
    store: Path | None,
    *,
    limit: int | None = None,
    is_new: bool = False,
    may_change: bool = False,
    redacts: bool = False,
) -> RunEnd:
    """Execute a plan and show the progress. If `may_change` is True, a changed plan starts a new trial run.

    Exits with a message if the trial run cannot start.
    """
    from callgauge.trials.results.run_folder import FolderError
    from callgauge.trials.running.run import run_trial
    from callgauge.trials.running.run_files import RunError, find_folder, make_place
    from callgauge.trials.running.run_lock import RunChangedError
    from ingest.errors import StoreError
    from ingest.store.generations import check_store_place

    try:
        make_place(out)
        if store is not None:
            check_store_place(store)
        folder = find_folder(plan, out, is_new=is_new)
        privacy = _make_privacy(out, store, redacts=redacts)
        render.print_message(f"the run is in {folder}")
        with (
            ExitStack() as stack,
            render.catch_interrupts(_HEARD) as interrupts,
            show_run() as tell,
        ):
            if store is not None:
                publisher = Publisher(folder, store, redacts=redacts)
                stack.callback(_tell_unpublished, publisher, store)
                stack.enter_context(publisher)
            asking = run_trial(
                plan,
                tasks,
                folder,
                limit=limit,
                stop=interrupts.is_stop_wanted,
                on_progress=tell,
                privacy=privacy,
            )
            end: RunEnd = _run_async(asking)
            return end
    except FolderError as problem:
        render.fail_in_lines(str(problem), ExitCode.UNREADABLE)
    except RunChangedError as problem:
        if not may_change:
            render.fail_in_lines(str(problem), ExitCode.WRONG_USE)
        return _run_plan(plan, tasks, out, store, limit=limit, is_new=True, redacts=redacts)
    except (RunError, StoreError) as problem:
        render.fail_in_lines(str(problem), ExitCode.WRONG_USE)


def _make_privacy(out: Path, store: Path | None, *, redacts: bool) -> RunPrivacy:
    """Return the redaction for a trial run, with the store's placeholder key if the store has one."""
    from ingest.privacy.configuration import KEY, read_or_make_key

    if not redacts:
        return RunPrivacy(secrets.token_bytes(32), redacts=False)
    place = store if store is not None and (store / KEY).exists() else out
    return RunPrivacy(read_or_make_key(place), redacts=True)


def _tell_unpublished(publisher: Publisher, store: Path) -> None:
    if publisher.problem is not None:
        render.print_message(f"the run was not loaded into {store}:")
        for line in publisher.problem.splitlines():
            render.print_message(line)


def _print_end(end: RunEnd, store: Path | None) -> None:
    from callgauge.cli.render.trials import trial_report_lines
    from callgauge.trials.verdicts.report import make_report
    from callgauge.trials.verdicts.run_record import read_run

    if end.outcomes:
        print("\n".join(trial_report_lines(make_report(read_run(end.folder.root)), [])), flush=True)
    for arm, reason in end.stopped_arms.items():
        render.print_message(f"variant {arm} stopped early: {reason}")
    render.print_message(end.sentence)
    if end.outcomes:
        render.print_message(f"show all measures and costs: callgauge trial report {end.folder.root} --full")
        if store is not None:
            render.print_message(f"show it in the dashboard: callgauge serve --store {store}")


def _run_async(asking: Any) -> Any:
    try:
        return asyncio.run(asking)
    except KeyboardInterrupt:
        render.fail_in_lines(
            "stopped immediately; finished trials are kept. Run the command again to continue",
            ExitCode.INTERRUPTED,
        )


class RunPrivacy:
    """Removes secrets from server messages. If `redacts` is True, also removes personal data from the logs of
    a trial run.

    Uses the patterns of `ingest --redact`. Placeholders are computed with `key`.
    """

    def __init__(self, key: bytes, *, redacts: bool) -> None:
        from ingest.privacy.redactor import Redactor
        from ingest.privacy.rules import read_rules

        self._redactor = Redactor(read_rules(None), key)
        self._redacts = redacts

    def clean_server_text(self, text: str) -> str:
        """Return a server's message without strings that look like secrets."""
        return self._redactor.redact_text(text)

    def clean_text(self, text: str) -> str:
        """Return a string unchanged, or without personal data if `--redact` is given."""
        return self._redactor.redact_text(text) if self._redacts else text

    def clean_event(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return a log event unchanged, or redacted as in `ingest --redact` if `--redact` is given."""
        if not self._redacts:
            return event
        kept_fields = {name: event[name] for name in _AS_THEY_ARE}
        content, meta = event.get("content"), event.get("meta")
        if content is not None:
            kept_fields["content"] = self._redactor.redact_text(content, parsed=True)
        if meta is not None:
            kept_fields["meta"] = self._redact_meta(meta)
        return {**event, **kept_fields}

    def _redact_meta(self, meta: dict[str, Any]) -> dict[str, Any]:
        """Redact the fields of an event. Redacted raw arguments stay invalid if they were invalid."""
        new: dict[str, Any] = self._redactor.redact_value(
            {name: value for name, value in meta.items() if name not in ("trial", "task", "outcome")}
        )
        for block, before in zip(new.get("toolBlocks") or (), meta.get("toolBlocks") or (), strict=True):
            if isinstance(before.get("raw"), str):
                block["raw"] = self._redactor.redact_text(before["raw"], parsed=True)
        return {**new, **{name: meta[name] for name in ("trial", "task", "outcome") if name in meta}}


def child_environment() -> dict[str, str]:
    """Return an environment in which a child process finds this `callgauge` from any folder."""
    places = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places)}


class Publisher:
    """Loads the logs of a trial run in a separate process. `problem` is the message of a failed load."""

    def __init__(self, folder: Path, store: Path, *, redacts: bool) -> None:
        options = ("--quiet", "--wait", *(("--redact",) if redacts else ()))
        self._command = [*CALLGAUGE, "ingest", str(folder), "--store", str(store), *options]
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._publish_often, name="publisher", daemon=True)
        self.problem: str | None = None

    def __enter__(self) -> Publisher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Load the logs a last time, then stop the process."""
        self._ended.set()
        self._thread.join()
        self.publish()

    def publish(self) -> None:
        """Load the trials that have ended so far."""
        # A new session protects the load from Ctrl-C; the main process handles it and then loads again.
        done = subprocess.run(
            self._command,
            env=child_environment(),
            capture_output=True,
            text=True,
            start_new_session=True,
            check=False,
        )
        messages = [line.removeprefix("callgauge: ") for line in done.stderr.splitlines() if line.strip()]
        self.problem = (
            None if done.returncode == 0 else "\n".join(messages[-_LINES:]) or f"exit code {done.returncode}"
        )

    def _publish_often(self) -> None:
        wait = _FIRST
        while not self._ended.wait(wait):
            self.publish()
            wait = EVERY
