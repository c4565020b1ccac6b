"""Measures a dashboard server while many users click: answer times, health checks, CPU time, memory."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException
from websockets.typing import Origin, Subprotocol

from bench.dashboard.made_store import make
from bench.dashboard.people import MODELS, ROOT

PAGES = ("", "models", "errors", "tools", "compare", "calls", "sessions")
_WHOLE_RUN = ForwardMsg.ScriptFinishedStatus.FINISHED_SUCCESSFULLY
_PROBE_EVERY = 0.5  # seconds
_PROBE_LIMIT = 60.0
_PAGE_LIMIT = 180.0
_TICKS = os.sysconf("SC_CLK_TCK")  # ticks of processor time per second, in /proc


@dataclass(slots=True)
class Load:
    """The seconds that each page and each probe took, and the errors."""

    pages: list[float] = field(default_factory=list)
    probes: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench many_users", description=__doc__)
    parser.add_argument("--users", type=int, default=40)
    parser.add_argument("--pause", type=float, default=1.5, help="seconds between a page and the next click")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--calls", type=int, default=100_000, help="how many calls the store contains")
    parser.add_argument("--store", type=Path, help="a folder for the store, which is used again if it exists")
    parser.add_argument("--workers", default="1,2,4", help="numbers of workers, with commas between them")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="callgauge-bench-") as folder:
        store = options.store or Path(folder)
        if not (store / "CURRENT").exists():
            make(store / "gen-000001.duckdb", options.calls)
        print(
            f"{'workers':>7} {'pages/s':>8} {'median s':>9} {'p95 s':>7} {'errors':>7} {'probe ms':>9} "
            f"{'p95 ms':>7} {'CPU s/page':>11} {'MB':>6} {'MB each':>8} {'load':>5}"
        )
        for workers in map(int, options.workers.split(",")):
            _measure(store, workers, options.users, options.pause, options.seconds)
    return 0


def _measure(store: Path, workers: int, users: int, pause: float, seconds: float) -> None:
    with _serve(store, workers) as (url, server):
        asyncio.run(_click_for(url, users, pause, 15))  # fills the caches, as after every start
        before, started = _cpu_seconds(server), time.monotonic()
        load = asyncio.run(_click_for(url, users, pause, seconds))
        took, cpu, memory = time.monotonic() - started, _cpu_seconds(server) - before, _memory_mb(server)
    pages, probes = load.pages, load.probes
    print(
        f"{workers:7} {len(pages) / took:8.1f} {statistics.median(pages):9.2f} {_percentile(pages, 95):7.2f} "
        f"{len(load.errors):7} {1000 * statistics.median(probes):9.0f} {1000 * _percentile(probes, 95):7.0f} "
        f"{cpu / len(pages):11.3f} {sum(memory):6.0f} {max(memory):8.0f} {os.getloadavg()[0]:5.1f}",
        flush=True,
    )
    for error, count in sorted({text: load.errors.count(text) for text in load.errors}.items()):
        print(f"        {count} × {error}")


async def _click_for(url: str, users: int, pause: float, seconds: float) -> Load:
    load, until = Load(), time.monotonic() + seconds
    probing = asyncio.create_task(asyncio.to_thread(_probe, url, load, until))
    await asyncio.gather(*(_click(url, number, pause, until, load) for number in range(users)))
    await probing
    return load


async def _click(url: str, number: int, pause: float, until: float, load: Load) -> None:
    choice = random.Random(number)
    await asyncio.sleep(choice.uniform(0, pause))
    while time.monotonic() < until:
        try:
            cookie = await asyncio.to_thread(_read_cookie, url)
            async with connect(
                f"{url.replace('http:', 'ws:')}/_stcore/stream",
                additional_headers={"cookie": cookie},
                origin=Origin(url),
                subprotocols=[Subprotocol("streamlit")],
                max_size=None,
                open_timeout=_PAGE_LIMIT,
                ping_timeout=None,
                proxy=None,
            ) as page:
                await _browse(page, choice, pause, until, load)
        except (OSError, TimeoutError, WebSocketException) as problem:
            load.errors.append(f"{type(problem).__name__}: {problem}"[:100])
            await asyncio.sleep(1)


async def _browse(
    page: ClientConnection, choice: random.Random, pause: float, until: float, load: Load
) -> None:
    names = await _open_page(page, "", "", {})
    while time.monotonic() < until:
        await asyncio.sleep(choice.uniform(0.8, 1.2) * pause)
        name, query = choice.choice(PAGES), {"model": choice.choice(MODELS), "days": choice.choice("17")}
        started = time.monotonic()
        await asyncio.wait_for(_open_page(page, name, urlencode(query), names), _PAGE_LIMIT)
        if time.monotonic() < until:
            load.pages.append(time.monotonic() - started)


async def _open_page(page: ClientConnection, name: str, query: str, names: dict[str, str]) -> dict[str, str]:
    """Ask for a page and wait until the page's script has ended.

    Return a dict from the names of all pages to the hashes of the page scripts.
    """
    request = BackMsg()
    request.rerun_script.query_string = query
    request.rerun_script.page_name = name
    request.rerun_script.page_script_hash = names.get(name, "")
    request.rerun_script.context_info.url = f"http://127.0.0.1/{name}"
    await page.send(request.SerializeToString())
    scripts, has_begun = dict(names), False
    while True:
        data = await page.recv()
        if len(data) > 100_000:  # messages about a script run are smaller
            continue
        message = ForwardMsg.FromString(data)
        kind = message.WhichOneof("type")
        if kind == "navigation" and not scripts:
            scripts = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
        elif kind == "new_session":
            has_begun = not names or message.new_session.page_script_hash == names[name]
        elif kind == "script_finished" and has_begun and message.script_finished == _WHOLE_RUN:
            return scripts


def _read_cookie(url: str) -> str:
    request = urllib.request.Request(url, headers={"accept": "text/html"})  # noqa: S310 - our own server
    with urllib.request.urlopen(request, timeout=_PAGE_LIMIT) as answer:  # noqa: S310
        answer.read()
        return str(answer.headers.get("set-cookie", "")).partition(";")[0]


def _probe(url: str, load: Load, until: float) -> None:
    for number in itertools.count():
        started = time.monotonic()
        if started >= until:
            return
        try:
            with urllib.request.urlopen(f"{url}/healthz/live", timeout=_PROBE_LIMIT) as answer:  # noqa: S310
                answer.read()
        except OSError as problem:
            load.errors.append(f"probe {number}: {problem}")
        load.probes.append(time.monotonic() - started)
        time.sleep(_PROBE_EVERY)


@contextmanager
def _serve(store: Path, workers: int) -> Iterator[tuple[str, int]]:
    """Serve the store. Yield the URL and the process id of the server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "callgauge", "serve", "--store", str(store), "--port", str(port)]
    if workers > 1:
        command += ["--workers", str(workers)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as server:
        try:
            url = f"http://127.0.0.1:{port}"
            for _ in range(300):
                try:
                    urllib.request.urlopen(f"{url}/_stcore/health", timeout=60).close()  # noqa: S310
                    break
                except OSError:
                    time.sleep(0.2)
            yield url, server.pid
        finally:
            server.send_signal(signal.SIGTERM)


def _processes(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    return [pid, *itertools.chain.from_iterable(_processes(int(child)) for child in children)]


def _cpu_seconds(pid: int) -> float:
    return sum(_cpu_of(process) for process in _processes(pid))


def _cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _memory_mb(pid: int) -> list[float]:
    """Return the memory of each process in MB. Memory that processes share is divided among them (PSS)."""
    return [
        int(Path(f"/proc/{process}/smaps_rollup").read_text("ascii").split("Pss:")[1].split()[0]) / 1024
        for process in _processes(pid)
    ]


def _percentile(values: Sequence[float], percent: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]
