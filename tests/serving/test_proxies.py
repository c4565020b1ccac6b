"""Tests nginx and Caddy in front of `callgauge serve`, configured as in docs/service.md."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from callgauge.serving.sign_in.users_file import FILE, UsersFile
from tests.analysis.store_fixture import publish, small_tables
from tests.browser.conftest import Served, serving
from tests.serving.page_traffic import run_page
from tests.serving.test_gate import read_hidden
from tests.serving.test_users import PASSWORD, put_quickly

DOCS = (Path(__file__).parents[2] / "docs" / "service.md").read_text("utf-8")
NAME = "gauge.example.com"
CLIENT = "127.0.0.2"  # on Linux, the whole network 127.0.0.0/8 is this machine
PROXIES = [
    pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=f"needs {name}"))
    for name in ("nginx", "caddy")
]
WITHOUT_HEADERS = "server { listen LISTEN; location / { proxy_pass http://BEHIND; } }"
# With this configuration, pages work, but the server gets no information about the client.
WITH_WEBSOCKETS = """server { listen LISTEN; location / {
    proxy_pass http://BEHIND; proxy_http_version 1.1;
    proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade"; } }"""
pytestmark = pytest.mark.thorough


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def read_block(language: str) -> str:
    block = re.search(rf"```{language}\n(.*?)```", DOCS, re.DOTALL)
    assert block
    return block[1]


def documented(proxy: str) -> str:
    """Return the configuration in the documentation without TLS, and with placeholders for the addresses."""
    block = read_block(proxy).replace("127.0.0.1:8501", "BEHIND")
    if proxy == "caddy":
        return block.replace(f"{NAME} {{", f"http://{NAME}:PORT {{\n    bind 127.0.0.1", 1)
    return re.sub(r".*ssl_certificate.*\n", "", block).replace("listen 443 ssl;", "listen LISTEN;")


@contextmanager
def proxy_before(site: Served, proxy: str, lines: str, folder: Path) -> Iterator[int]:
    """Run a proxy during the `with` block. Yield its port."""
    port = free_port()
    lines = lines.replace("BEHIND", urlsplit(site.url).netloc).replace("LISTEN", f"127.0.0.1:{port}")
    lines = lines.replace("PORT", str(port))
    config = folder / "proxy.conf"
    if proxy == "nginx":
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        places = "".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
        config.write_text(
            f"daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;\n"
            f"events {{}}\nhttp {{ access_log off; {places}\n{lines}\n}}"
        )
        command = ["nginx", "-c", str(config), "-p", str(folder), "-e", str(folder / "error.log")]
    else:
        config.write_text("{\n    admin off\n}\n" + lines)
        command = ["caddy", "run", "--config", str(config), "--adapter", "caddyfile"]
    with (folder / "proxy.log").open("wb") as log:
        environment = {"HOME": str(folder), "PATH": "/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin"}
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    try:
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert process.poll() is None, (folder / "proxy.log").read_text()
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(20)


def browser(port: int, host: str) -> httpx2.Client:
    return httpx2.Client(
        base_url=f"http://127.0.0.1:{port}",
        headers={"host": host},
        timeout=90,
        transport=httpx2.HTTPTransport(local_address=CLIENT),
    )


@pytest.mark.parametrize("proxy", PROXIES)
def test_the_documented_lines_work_with_a_sign_in(proxy: str, tmp_path: Path) -> None:
    publish(tmp_path / "store", small_tables())
    put_quickly(UsersFile(tmp_path / "store" / FILE), "ann", "admin", PASSWORD)
    served_port, proxy_folder = free_port(), tmp_path / "proxy"
    proxy_folder.mkdir()
    settings = re.search(r"```toml\n(\[serve\]\nhosts.*?)```", DOCS, re.DOTALL)
    assert settings
    without_tls = re.sub("address = .*\n", "", settings[1])
    (tmp_path / "callgauge.toml").write_text(f'store = "store"\n{without_tls}')
    options = ("--config", str(tmp_path / "callgauge.toml"))
    with (
        serving(tmp_path / "store", tmp_path, options=options, port=served_port) as site,
        proxy_before(site, proxy, documented(proxy), proxy_folder) as port,
        browser(port, f"{NAME}:{port}") as ann,
    ):
        assert ann.get("/models", headers={"accept": "text/html"}).headers["location"].startswith("/sign-in")
        form = read_hidden(ann.get("/sign-in").text)
        origin = {"origin": f"http://{NAME}:{port}"}
        answer = ann.post("/sign-in", data=form | {"name": "ann", "password": PASSWORD}, headers=origin)
        assert answer.status_code == 303
        cookie = "; ".join(f"{name}={value}" for name, value in answer.cookies.items())
        assert ann.get("/api/v1/rates", headers={"cookie": cookie}).status_code == 200
        with connect(
            f"ws://{NAME}:{port}/_stcore/stream",
            sock=socket.create_connection(("127.0.0.1", port)),
            additional_headers={"Cookie": cookie},
            origin=Origin(origin["origin"]),
            subprotocols=[Subprotocol("streamlit")],
            max_size=None,
            open_timeout=90,
            proxy=None,
        ) as page:
            run_page(page, "models")
        log = (tmp_path / "store" / "access.jsonl").read_text()
        assert f'"event": "sign_in", "user": "ann", "role": "admin", "client": "{CLIENT}"' in log


@pytest.mark.parametrize("proxy", PROXIES)
def test_nobody_behind_a_proxy_is_on_this_machine(proxy: str, tmp_path: Path) -> None:
    """Without sign-in, the server answers `/metrics` only for this machine. A request through a proxy must
    not count as local.
    """
    publish(tmp_path / "store", small_tables())
    recipes = {"documented": documented(proxy)}
    if proxy == "nginx":
        recipes |= {"without_headers": WITHOUT_HEADERS, "with_websockets": WITH_WEBSOCKETS}
    with serving(tmp_path / "store", tmp_path, options=("--allowed-host", NAME)) as site:
        assert httpx2.get(f"{site.url}/metrics", timeout=90).status_code == 200
        for name, lines in recipes.items():
            folder = tmp_path / name
            folder.mkdir()
            with proxy_before(site, proxy, lines, folder) as port:
                hosts = [f"{NAME}:{port}"] + (["localhost", "127.0.0.1:8501"] if proxy == "nginx" else [])
                for host in hosts:
                    page = {"referer": f"http://{NAME}:{port}/"} if name == "with_websockets" else {}
                    with browser(port, host) as anybody:
                        answer = anybody.get("/metrics", headers=page)
                        assert (name, host, answer.status_code) == (name, host, 403)
