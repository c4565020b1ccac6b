"""Tests two real worker processes that serve one store and share sessions and limits."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from callgauge.serving.sign_in.users_file import FILE, UsersFile
from tests.analysis.store_fixture import publish, small_tables
from tests.browser.conftest import Served, serving
from tests.serving.page_traffic import open_socket, run_page
from tests.serving.test_gate import HTML, read_hidden
from tests.serving.test_users import PASSWORD, put_quickly

pytestmark = pytest.mark.thorough
WORKER = "callgauge_worker"
WORKERS = (1, 2)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("workers")
    store = folder / "store"
    publish(store, small_tables())
    users = UsersFile(store / FILE)
    for name in ("ann", "bob", "cay"):
        put_quickly(users, name, "admin", PASSWORD)
    with serving(store, folder, options=("--sign-in", "password", "--workers", "2")) as running:
        yield running


@contextmanager
def browser_of(site: Served, worker: int, name: str = "ann") -> Iterator[httpx2.Client]:
    """Return a browser that uses this worker and has a signed-in user."""
    with httpx2.Client(base_url=site.url, timeout=90, headers={"origin": site.url}) as browser:
        browser.cookies.set(WORKER, str(worker), "127.0.0.1")
        data = read_hidden(browser.get("/sign-in").text) | {"name": name, "password": PASSWORD}
        assert browser.post("/sign-in", data=data).status_code == 303
        # the first worker answered, and did not change the cookie that names a worker
        assert browser.cookies[WORKER] == str(worker)
        yield browser


def cookie_of(browser: httpx2.Client) -> dict[str, str]:
    return {"cookie": "; ".join(f"{name}={value}" for name, value in browser.cookies.items())}


def move(browser: httpx2.Client) -> dict[str, str]:
    """Return a browser's cookies as a header, with the worker cookie of the other worker."""
    other = 3 - int(browser.cookies[WORKER])
    return {"cookie": re.sub(rf"{WORKER}=\d", f"{WORKER}={other}", cookie_of(browser)["cookie"])}


def gets_no_more(page: ClientConnection) -> bool:
    """Return True if the server closes the websocket of an open page at the page's next message."""
    with suppress(ConnectionClosed):
        run_page(page)
        return False
    return page.close_code == 1008


def test_browsers_are_spread_and_connections_end_after_one_answer(site: Served) -> None:
    browsers = [httpx2.Client(base_url=site.url, timeout=90) for _ in range(4)]
    for browser in browsers:
        answer = browser.get("/", headers=HTML)
        assert answer.status_code == 303
        assert answer.headers["connection"] == "close"
        assert "HttpOnly" in answer.headers["set-cookie"]
        assert browser.get("/models", headers=HTML).headers.get("set-cookie") is None
    assert sorted(browser.cookies[WORKER] for browser in browsers) == ["1", "1", "2", "2"]


def test_a_page_and_its_files_are_in_one_worker(site: Served) -> None:
    with (
        browser_of(site, 2, "cay") as browser,
        httpx2.Client(base_url=site.url, timeout=90, headers=move(browser)) as elsewhere,
        open_socket(site.url, cookie_of(browser)) as page,
    ):
        files = re.findall(rb"/media/[0-9a-z]+\.[a-z]+", run_page(page).data)
        assert files
        for file in files:
            assert browser.get(file.decode()).status_code == 200
            assert elsewhere.get(file.decode()).status_code == 404


def test_signing_out_and_removing_a_user_count_in_both_workers(site: Served) -> None:
    with browser_of(site, 1) as first, browser_of(site, 2, "bob") as second:
        elsewhere = move(first)
        with (
            httpx2.Client(base_url=site.url, timeout=90, headers=elsewhere) as other,
            open_socket(site.url, cookie_of(first)) as page,
            open_socket(site.url, elsewhere) as page_elsewhere,
            open_socket(site.url, cookie_of(second)) as page_of_bob,
        ):
            assert not any(gets_no_more(each) for each in (page, page_elsewhere, page_of_bob))
            assert first.get("/sign-out", headers={"sec-fetch-site": "same-origin"}).status_code == 200
            assert gets_no_more(page)
            assert gets_no_more(page_elsewhere)
            assert other.get("/", headers=HTML).headers["location"].startswith("/sign-in")
            assert not gets_no_more(page_of_bob)
            UsersFile(site.store / FILE).remove("bob")
            assert gets_no_more(page_of_bob)
    put_quickly(UsersFile(site.store / FILE), "bob", "admin", PASSWORD)


def test_a_guess_counts_whatever_worker_the_browser_names(site: Served) -> None:
    took = []
    for number in range(25):  # 20 attempts are fast; then one attempt is fast every 30 seconds
        with httpx2.Client(base_url=site.url, timeout=90, headers={"origin": site.url}) as browser:
            browser.cookies[WORKER] = str(1 + number % 2)
            data = read_hidden(browser.get("/sign-in").text) | {"name": f"n{number}", "password": "x"}
            started = time.monotonic()
            assert browser.post(f"/sign{'%2d' if number % 3 else '-'}in", data=data).status_code == 403
            took.append(time.monotonic() - started)
    assert min(took) < 5.0
    assert max(took) >= 5.0  # the client made too many attempts, so it has to wait


def test_both_workers_show_a_new_load(tmp_path: Path) -> None:
    store = tmp_path / "store"
    publish(store, small_tables())
    new_tables = {
        name: [{**row, "model": "heron-9"} if "model" in row else row for row in rows]
        for name, rows in small_tables().items()
    }
    with serving(store, tmp_path, options=("--workers", "2")) as site:
        first, second = (open_socket(site.url, {"cookie": f"{WORKER}={worker}"}) for worker in WORKERS)
        with first, second:
            assert not any(b"heron-9" in run_page(page).data for page in (first, second))
            publish(store, new_tables, number=2)
            assert all(b"heron-9" in run_page(page).data for page in (first, second))


def test_a_killed_worker_comes_back_and_the_other_goes_on(tmp_path: Path) -> None:
    store = tmp_path / "store"
    publish(store, small_tables())
    with serving(store, tmp_path, options=("--workers", "2")) as site:
        with (
            httpx2.Client(base_url=site.url, timeout=90, cookies={WORKER: "2"}) as browser,
            open_socket(site.url, {"cookie": f"{WORKER}=1"}) as other,
            open_socket(site.url, {"cookie": f"{WORKER}=2"}) as page,
        ):
            run_page(page)
            os.kill(find_worker(site.store, 2), signal.SIGKILL)
            with pytest.raises(ConnectionClosed):
                run_page(page)
            while (answer := browser.get("/", headers=HTML)).status_code == 200:
                time.sleep(0.01)
            assert answer.status_code == 503
            assert "This page loads again by itself" in answer.text
            assert browser.get("/healthz/live").json() == {"status": "ok"}
            assert run_page(other).messages
            while browser.get("/", headers=HTML).status_code == 503:
                time.sleep(0.1)
        with open_socket(site.url, {"cookie": f"{WORKER}=2"}) as page:
            assert run_page(page).messages
        front = parent_of(find_worker(site.store, 1))
        workers = [find_worker(site.store, number) for number in WORKERS]
        os.kill(front, signal.SIGSTOP)
        time.sleep(0.5)
        assert [find_worker(site.store, number) for number in WORKERS] == workers
        os.kill(front, signal.SIGCONT)
    assert [find_worker(store, number) for number in WORKERS] == [0, 0]


def test_a_killed_front_process_leaves_no_worker(tmp_path: Path) -> None:
    store = tmp_path / "store"
    publish(store, small_tables())
    # the exit code is not 0, so `serving` raises AssertionError
    with suppress(AssertionError), serving(store, tmp_path, options=("--workers", "2")):
        os.kill(parent_of(find_worker(store, 1)), signal.SIGKILL)
        until = time.monotonic() + 30
        while any(find_worker(store, number) for number in WORKERS) and time.monotonic() < until:
            time.sleep(0.1)
    assert [find_worker(store, number) for number in WORKERS] == [0, 0]


def find_worker(store: Path, number: int) -> int:
    """Return the process id of a worker that serves a store. Return 0 if there is no worker."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            environment = (folder / "environ").read_bytes().split(b"\0")
            is_worker = any(entry.startswith(f"CALLGAUGE_WORKER={number} ".encode()) for entry in environment)
            if is_worker and f"CALLGAUGE_STORE={store}".encode() in environment:
                return int(folder.name)
    return 0


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[1])
