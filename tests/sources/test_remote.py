"""Tests logs in object storage and on the web."""

from __future__ import annotations

import gzip
import http.server
import multiprocessing
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any, ClassVar

import pytest

from callgauge.memory.team_memory import TeamMemory
from ingest.backup.make_backup import make_backup
from ingest.backup.restore import restore
from ingest.errors import BackupError, InputError, OptionError
from ingest.pipeline.dry_run import forecast_load
from ingest.pipeline.load import load
from ingest.sources import object_store
from ingest.sources.log_content import open_log
from ingest.sources.object_store import find_objects
from ingest.sources.stored_names import strip_credentials
from tests.bucket import BUCKET
from tests.sources.archives import tarred, zipped
from tests.store.night import ask, contents, count, session


def put(s3: Any, key: str, content: str | bytes) -> None:
    s3.put_object(Bucket=BUCKET, Key=key, Body=content if isinstance(content, bytes) else content.encode())


def paths(store: Path) -> list[str]:
    return sorted(path for (path,) in ask(store, "SELECT path FROM files"))


# --- S3 --------------------------------------------------------------------------------------------


def test_a_bucket_a_folder_a_pattern_and_an_object_are_read(s3: Any, store: Path) -> None:
    for number, key in enumerate(
        ["a.jsonl", "night/b.jsonl", "night/deep/c.jsonl", "night/.hidden", "n 1#?.x"]
    ):
        put(s3, key, session(f"s{number}"))
    assert load([f"s3://{BUCKET}/a.jsonl"], store).loaded == 1
    assert load([f"s3://{BUCKET}/night/"], store).loaded == 2
    assert load([f"s3://{BUCKET}/night/*.jsonl"], store).unchanged == 1
    report = load([f"s3://{BUCKET}"], store)
    assert (report.loaded, report.unchanged, report.rejected) == (1, 3, ())
    assert paths(store) == [
        f"s3://{BUCKET}/{key}" for key in ("a.jsonl", "n 1#?.x", "night/b.jsonl", "night/deep/c.jsonl")
    ]


@pytest.mark.thorough
def test_an_object_that_has_not_changed_is_not_asked_for(
    s3: Any, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(s3, "a", session("s1"))
    put(s3, "b.zip", b"")
    load([f"s3://{BUCKET}/a"], store)
    monkeypatch.setattr(object_store.RemoteObject, "open", lambda place: pytest.fail(f"{place} was opened"))
    assert load([f"s3://{BUCKET}/a"], store).generation is None


@pytest.mark.thorough
def test_an_object_that_was_rewritten_is_read_anew(s3: Any, store: Path) -> None:
    put(s3, "a", session("s1"))
    load([f"s3://{BUCKET}"], store)
    # the new file has the same size as the old one, and the same time in whole seconds
    put(s3, "a", session("s2"))
    assert load([f"s3://{BUCKET}"], store).loaded == 1
    assert sorted(ask(store, "SELECT session_id FROM sessions")) == [("s1",), ("s2",)]


@pytest.mark.thorough
def test_a_log_that_was_uploaded_or_packed_is_recognised(s3: Any, logs: Path, store: Path) -> None:
    (logs / "a").write_text(session("s1"))
    load([logs], store)
    put(s3, "a.gz", gzip.compress(session("s1").encode()))
    assert load([f"s3://{BUCKET}"], store).unchanged == 1
    (logs / "a").unlink()
    assert load([f"s3://{BUCKET}"], store).generation is None
    assert count(store, "sessions") == 1


@pytest.mark.thorough
@pytest.mark.parametrize("packing", ["zip", "tar", "tar.gz", "eval"])
def test_archives_are_read_where_they_are(s3: Any, store: Path, tmp_path: Path, packing: str) -> None:
    members = {f"{number}": session(f"s{number}").encode() * 200 for number in range(3)}
    made = {
        "zip": lambda: zipped(tmp_path / "x", members).read_bytes(),
        "eval": lambda: zipped(tmp_path / "x", {"header.json": b"{}", "samples/1.json": b"{}"}).read_bytes(),
        "tar": lambda: tarred(members),
        "tar.gz": lambda: gzip.compress(tarred(members)),
    }[packing]()
    put(s3, "night", made)
    report = load([f"s3://{BUCKET}/night"], store)
    if packing == "eval":
        assert "is in no format known here" in report.rejected[0].reason
        return
    assert report.loaded == 3
    assert paths(store) == [f"s3://{BUCKET}/night!{number}" for number in range(3)]
    assert load([f"s3://{BUCKET}/night"], store).generation is None


@pytest.mark.thorough
def test_a_large_object_comes_in_pieces(s3: Any, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store, "PIECE", 10_000)
    log = "".join(session(f"s{number}") for number in range(30))
    put(s3, "a", log)
    report = load([f"s3://{BUCKET}/a"], store)
    assert (report.sessions, report.bytes) == (30, len(log))


@pytest.mark.thorough
def test_what_is_not_there_or_not_allowed_is_one_sentence(
    s3: Any, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=r"s3://logs/nothing does not exist"):
        load([f"s3://{BUCKET}/nothing"], store)
    with pytest.raises(InputError, match=r"s3://logs/\*\.none does not exist"):
        load([f"s3://{BUCKET}/*.none"], store)
    put(s3, "a", session("s1"))
    report = load([f"s3://{BUCKET}/a", f"s3://{BUCKET}/nothing"], store)
    assert (report.loaded, [rejected.reason for rejected in report.rejected]) == (1, ["does not exist"])


def test_a_dry_run_looks_at_addresses_too(s3: Any, store: Path) -> None:
    put(s3, "a", session("s1"))
    (share,) = forecast_load([f"s3://{BUCKET}"], store).shares
    assert (share.would, share.form, share.files) == ("new", "session_history", 1)


@pytest.mark.thorough
def test_a_bucket_holds_backups_too(s3: Any, logs: Path, store: Path, tmp_path: Path) -> None:
    (logs / "a.jsonl").write_text(session("s"))
    load([logs], store)
    address = f"s3://{BUCKET}/deep/callgauge"
    TeamMemory(store).set_goal("mended", 0.5)
    first = make_backup(store, address)
    (store / "naming.toml").write_text("")
    second = make_backup(store, address, keep=1)
    assert (second.bytes_sent, second.removed, second.backups) == (0, (first.name,), 1)
    restore(address, tmp_path / "new")
    assert contents(tmp_path / "new") == contents(store)
    with pytest.raises(BackupError, match="check the address"):
        make_backup(store, "s3://no-such-bucket/x")


@pytest.mark.thorough
def test_an_object_opens_in_a_forked_worker(s3: Any) -> None:
    put(s3, "a", session("s1"))
    (log_file,) = find_objects(f"s3://{BUCKET}/a")
    context = multiprocessing.get_context("forkserver")
    with context.Pool(1) as pool:
        assert pool.apply_async(length_of, [pickle.dumps(log_file)]).get(60) == len(session("s1"))


def length_of(pickled: bytes) -> int:
    with open_log(pickle.loads(pickled)) as content:  # noqa: S301 - our own
        return len(content.readall() or b"")


@pytest.mark.thorough
def test_neighbours_of_an_object_are_found(s3: Any) -> None:
    put(s3, "night/a", session("s1"))
    put(s3, "night/b", "beside")
    (log_file,) = find_objects(f"s3://{BUCKET}/night/a")
    beside = log_file.place.sibling("b")
    assert beside is not None
    with beside.open() as stream:
        assert stream.read() == b"beside"
    assert [log_file.place.sibling(name) for name in ("c", "..", "../x", "")] == [None] * 4


# --- the web ---------------------------------------------------------------------------------------


class Site(http.server.BaseHTTPRequestHandler):
    """A web server for `files`.

    `cuts` contains numbers of bytes: each response ends after the next of these numbers. If `parts` is True,
    the server supports range requests.
    """

    files: ClassVar[dict[str, bytes]] = {}
    cuts: ClassVar[list[int]] = []
    parts: ClassVar[bool] = True
    sized: ClassVar[bool] = True
    asked: ClassVar[list[tuple[str, str | None]]] = []

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def _answer(self, *, body: bool) -> None:
        data = self.files.get(self.path)
        if data is None:
            self.send_error(404)
            return
        wanted = self.headers.get("Range")
        self.asked.append((self.command, wanted))
        first, last = 0, len(data) - 1
        if wanted and self.parts:
            first, last = (int(part or last) for part in wanted.removeprefix("bytes=").split("-"))
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{min(last, len(data) - 1)}/{len(data)}")
        else:
            self.send_response(200)
        part = data[first : last + 1]
        self.send_header("Last-Modified", formatdate(1_795_000_000, usegmt=True))
        if self.sized:
            self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if body:
            cut = self.cuts.pop(0) if self.cuts else len(part)
            self.wfile.write(part[:cut])
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[str]:
    Site.files, Site.cuts, Site.parts, Site.sized, Site.asked = {}, [], True, True, []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


LOG = "".join(session(f"s{number}") for number in range(20)).encode()


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("parts", [True, False], ids=["ranges", "no ranges"])
@pytest.mark.parametrize("sized", [True, False], ids=["sized", "of unknown size"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("piece", [10_000, 4_000_000], ids=["pieces", "whole"])
def test_a_file_on_the_web_is_read_however_it_is_served(
    site: str, store: Path, monkeypatch: pytest.MonkeyPatch, parts: bool, sized: bool, pack: Any, piece: int
) -> None:
    monkeypatch.setattr(object_store, "PIECE", piece)
    Site.files, Site.parts, Site.sized = {"/night": pack(LOG)}, parts, sized
    report = load([f"{site}/night"], store)
    assert (report.sessions, report.bytes, report.rejected) == (20, len(LOG), ())
    assert load([f"{site}/night"], store).generation is None


def test_a_connection_that_breaks_is_taken_up_again_where_it_broke(
    site: str, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "PIECE", 10_000)
    Site.files = {"/night": LOG}
    Site.cuts = [20_000, 5_000, 10_000, 20_000, 1]
    assert load([f"{site}/night"], store).sessions == 20


@pytest.mark.thorough
def test_a_connection_that_keeps_breaking_costs_the_file_until_the_next_load(
    site: str, store: Path, monkeypatch: pytest.MonkeyPatch, logs: Path
) -> None:
    monkeypatch.setattr(object_store, "PIECE", 10_000)
    (logs / "good").write_text(session("good"))
    Site.files = {"/night": LOG}
    Site.cuts = [70_000, *[10] * 30]
    report = load([logs, f"{site}/night"], store)
    assert report.loaded == 1
    assert "the server failed at byte" in report.rejected[0].reason
    assert ask(store, "SELECT session_id FROM sessions") == [("good",)]
    Site.cuts = []
    assert load([logs, f"{site}/night"], store).sessions == 20


@pytest.mark.thorough
def test_an_archive_whose_server_failed_is_looked_at_again(
    site: str, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "PIECE", 2_000)
    Site.files = {"/night": zipped(tmp_path / "x", {"a": LOG, "b": LOG[:-1]}, 0).read_bytes()}
    monkeypatch.setattr(object_store.RemoteObject, "open", failing_after(object_store.RemoteObject.open, 3))
    assert load([f"{site}/night"], store).loaded < 2
    monkeypatch.undo()
    load([f"{site}/night"], store)
    assert ask(store, "SELECT count(*) FROM files WHERE status = 'loaded'") == [(2,)]


def failing_after(really: Any, times: int) -> Any:
    left = [times]

    def open_or_fail(place: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise OSError("the server failed at byte 0 (TimeoutError: )")
        return really(place)

    return open_or_fail


@pytest.mark.thorough
def test_a_file_that_changes_while_it_is_read_does_not_count(
    site: str, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(object_store, "PIECE", 10_000)
    Site.files = {"/night": LOG}
    really = object_store.ObjectStream.request_bytes

    def meanwhile(self: object_store.ObjectStream, size: int) -> bytes:
        if self.tell() > 40_000:
            Site.files["/night"] = LOG + b"\n"
        return really(self, size)

    monkeypatch.setattr(object_store.ObjectStream, "request_bytes", meanwhile)
    reason = load([f"{site}/night"], store).rejected[0].reason
    assert "it changed after it was found; load it again" in reason


@pytest.mark.thorough
def test_an_address_without_a_file_is_one_sentence(site: str, store: Path, logs: Path) -> None:
    with pytest.raises(InputError, match="does not exist; check the spelling"):
        load([f"{site}/nothing"], store)
    (logs / "a").write_text(session("s1"))
    report = load([logs, "http://127.0.0.1:9/x"], store)
    assert report.rejected[0].path == "http://127.0.0.1:9/x"
    assert "cannot be accessed: ClientConnectorError" in report.rejected[0].reason


# --- addresses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:secret@host/a.jsonl", "https://host/a.jsonl"),
        ("https://host/a?X-Amz-Signature=0123&x=1", "https://host/a"),
        ("https://host/a?sv=2024&sig=abc", "https://host/a"),
        ("https://host/a?day=2026-11-20#top", "https://host/a?day=2026-11-20"),
        ("s3://bucket/a?b#c", "s3://bucket/a?b#c"),
    ],
)
def test_what_lets_one_in_is_not_kept(url: str, shown: str) -> None:
    assert strip_credentials(url) == shown


@pytest.mark.thorough
def test_a_signed_address_is_the_same_file_under_its_next_signature(site: str, store: Path) -> None:
    Site.files = {"/a?X-Amz-Signature=1": LOG, "/a?X-Amz-Signature=2": LOG}
    load([f"{site}/a?X-Amz-Signature=1"], store)
    assert load([f"{site}/a?X-Amz-Signature=2"], store).generation is None
    assert paths(store) == [f"{site}/a"]


def test_other_schemes_and_missing_drivers_are_wrong_use(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OptionError, match=r"ftp://host/x cannot be read: addresses begin with one of s3://"):
        load(["ftp://host/x"], store)
    for url, extra in (("gs://bucket/x", "gs"), ("az://container/x", "az")):
        with pytest.raises(OptionError, match=rf"its driver is not installed; .*callgauge\[{extra}\]"):
            load([url], store)
    assert not store.exists()


def test_files_on_this_machine_do_not_cost_the_imports(logs: Path, store: Path) -> None:

    (logs / "a").write_text(session("s1"))
    code = (
        "import sys; from pathlib import Path; from ingest.pipeline.load import load; "
        f"load([{str(logs)!r}], Path({str(store)!r})); assert 'fsspec' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


@pytest.mark.thorough
def test_a_session_in_many_objects_is_one_log(s3: Any, store: Path) -> None:
    folder = Path(__file__).parents[2] / "sample_data" / "logs" / "strands" / "session_made_trip"
    for path in folder.rglob("*.json"):
        put(s3, f"agents/{path.relative_to(folder.parent)}", path.read_bytes())
    address = f"s3://{BUCKET}/agents/"
    report = load([address], store)
    assert (report.loaded, report.sessions, report.calls, report.rejects) == (1, 2, 5, 0)
    log = f"{address}session_made_trip/session.json"
    assert ask(store, "SELECT path FROM files") == [(log,)]
    assert load([address], store).unchanged == 1
    message = folder / "agents" / "agent_default" / "messages" / "message_11.json"
    put(s3, f"agents/{message.relative_to(folder.parent)}", message.read_bytes() + b"\n")
    assert load([address], store).loaded == 1
