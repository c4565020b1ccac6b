"""Tests archives. A load reads each member as a stream, and never uses a member's name as a file path."""

from __future__ import annotations

import gzip
import io
import pickle
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ingest.errors import DamagedFileError
from ingest.formats import formats
from ingest.maintenance.rejects import retry_rejected
from ingest.pipeline.load import load
from ingest.sources.archive_members import list_members, look_inside
from ingest.sources.discovery import look_at_file
from ingest.sources.local_files import LocalFile
from ingest.sources.log_content import open_log
from ingest.sources.log_file import LogFile
from tests.sources.archives import COMPRESSED, ZSTD, tarred, zipped
from tests.sources.test_named import piped
from tests.store.night import ask, count, rows_by_reference, session

LOGS = {f"night/{name}.jsonl": session(name).encode() for name in ("s3", "s1", "s2")}


def written(path: Path, members: dict[str, bytes], packing: str) -> Path:
    """Write an archive of these members. Kinds are `zip`, `zip.93` (a zip method), `tar` and `tar.gz`."""
    kind, _, how = packing.partition(".")
    if kind == "zip":
        return zipped(path, members, int(how or zipfile.ZIP_DEFLATED))
    path.write_bytes(COMPRESSED[how](tarred(members)) if how else tarred(members))
    return path


PACKINGS = ["zip", "zip.0", "zip.12", f"zip.{ZSTD}", "tar", "tar.gz", "tar.bz2", "tar.xz", "tar.zst"]
SOME = ["zip", "tar", "tar.gz"]


def listed(path: Path) -> list[LogFile]:
    log_file, archive = look_inside(look_at_file(str(path)))
    assert archive is not None
    return list(list_members(log_file, archive, fingerprints=True))


def content_of(log_file: LogFile) -> bytes:
    with open_log(log_file).open_buffered() as stream:
        return stream.read()


def rejected(store: Path) -> dict[str, str]:
    rows = ask(store, "SELECT path, reason FROM files WHERE status = 'rejected'")
    assert all("\n" not in reason for _, reason in rows)
    return {path.rpartition("/")[2]: reason for path, reason in rows}


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("packing", PACKINGS)
def test_an_archive_loads_as_its_members_whatever_its_name(logs: Path, store: Path, packing: str) -> None:
    archive = written(logs / "night", LOGS, packing)
    report = load([logs], store)
    assert (report.loaded, report.sessions, report.rejected) == (3, 3, ())
    assert sorted(ask(store, "SELECT path FROM files")) == [(f"{archive}!{name}",) for name in sorted(LOGS)]
    archive.unlink()
    plain = store.with_name("plain")
    for name, content in LOGS.items():
        (logs / Path(name).name).write_bytes(content)
    load([logs], plain)
    assert rows_by_reference(store) == rows_by_reference(plain)


@pytest.mark.thorough
@pytest.mark.parametrize("packing", SOME)
def test_an_archive_that_has_not_changed_is_not_opened_again(
    logs: Path, store: Path, packing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(logs / "night", {**LOGS, "README": b"no log"}, packing)
    load([logs], store)
    monkeypatch.setattr(LocalFile, "open", not_to_be_opened)
    report = load([logs], store)
    assert (report.unchanged, len(report.rejected), report.generation) == (3, 1, None)


def not_to_be_opened(place: LocalFile) -> io.RawIOBase:
    raise AssertionError(f"{place} was opened")


@pytest.mark.thorough
@pytest.mark.parametrize("packing", SOME)
def test_a_member_that_is_added_is_read_and_the_others_are_not(logs: Path, store: Path, packing: str) -> None:
    written(logs / "night", LOGS, packing)
    load([logs], store)
    written(logs / "night", {"s0": session("s0").encode(), **LOGS}, packing)
    report = load([logs], store)
    assert (report.loaded, report.unchanged) == (1, 3)
    assert count(store, "sessions") == 4
    assert load([logs], store).generation is None


@pytest.mark.thorough
@pytest.mark.parametrize("packing", SOME)
def test_a_member_that_is_gone_keeps_its_rows_and_costs_no_further_look(
    logs: Path, store: Path, packing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(logs / "night", LOGS, packing)
    load([logs], store)
    written(logs / "night", {name: LOGS[name] for name in list(LOGS)[1:]}, packing)
    assert load([logs], store).unchanged == 2
    assert count(store, "sessions") == 3
    monkeypatch.setattr(LocalFile, "open", not_to_be_opened)
    assert load([logs], store).generation is None


@pytest.mark.thorough
@pytest.mark.parametrize("packing", PACKINGS)
def test_logs_that_move_into_an_archive_are_recognised(logs: Path, store: Path, packing: str) -> None:
    for name, content in LOGS.items():
        (logs / Path(name).name).write_bytes(content)
    load([logs], store)
    before = rows_by_reference(store)
    for path in list(logs.iterdir()):
        path.unlink()
    written(logs / "night", LOGS, packing)
    report = load([logs], store)
    assert (report.loaded, report.moved) == (0, 3)
    assert rows_by_reference(store) == before
    assert load([logs], store).generation is None


@pytest.mark.thorough
@pytest.mark.parametrize("packing", SOME)
def test_an_archive_of_logs_that_are_in_costs_one_look(
    logs: Path, store: Path, packing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in LOGS.items():
        (logs / Path(name).name).write_bytes(content)
    load([logs], store)
    written(logs / "night", LOGS, packing)
    report = load([logs], store)
    assert (report.loaded, report.unchanged, count(store, "copies")) == (0, 6, 3)
    monkeypatch.setattr(LocalFile, "open", not_to_be_opened)
    assert load([logs], store).unchanged == 6


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("packing", SOME)
def test_a_member_that_is_compressed_is_read(logs: Path, store: Path, packing: str) -> None:
    written(logs / "night", {f"{name}.gz": gzip.compress(content) for name, content in LOGS.items()}, packing)
    assert load([logs], store).sessions == 3


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("packing", SOME)
@pytest.mark.parametrize("inner", ["zip", "tar", "tar.gz"])
def test_an_archive_in_an_archive_is_refused(logs: Path, store: Path, packing: str, inner: str) -> None:
    inside = written(logs / "inner", LOGS, inner).read_bytes()
    (logs / "inner").unlink()
    written(logs / "night", {"inner": inside, **LOGS}, packing)
    assert load([logs], store).loaded == 3
    kind = inner.partition(".")[0]
    assert rejected(store) == {
        "night!inner": f"cannot be read: it is a {kind} archive inside an archive; unpack the outer one"
    }


def test_a_zip_inside_gzip_is_refused(logs: Path, begun: Path) -> None:
    (logs / "night").write_bytes(gzip.compress(zipped(logs / "zip", LOGS).read_bytes()))
    (logs / "zip").unlink()
    load([logs], begun)
    assert rejected(begun) == {"night": "cannot be read: it is a zip archive inside gzip data; unpack that"}


def test_hidden_members_folders_and_links_are_left_out(logs: Path, store: Path) -> None:
    names = {".hidden": b"x", "a/.git/config": b"x", "__MACOSX/._a.jsonl": b"x", "./dotted.jsonl": b""}
    with tarfile.open(logs / "night.tar", "w") as archive:
        for name, content in (names | {"./dotted.jsonl": session("s1").encode()}).items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for kind in (tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            info = tarfile.TarInfo(f"kind-{kind.decode()}")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    assert load([logs], store).loaded == 1
    assert ask(store, "SELECT path FROM files") == [(f"{logs / 'night.tar'}!dotted.jsonl",)]


HOSTILE = [
    "../../../etc/passwd", "/etc/passwd", "C:\\windows\\x", "a\nb", "<script>alert(1)</script>", "=1+1",
    "ü" * 200, "x" * 60_000, "a!b!c", "%2e%2e/x", "-rf",
]  # fmt: skip


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("packing", SOME)
def test_hostile_names_are_names(logs: Path, store: Path, packing: str) -> None:
    made = {name: session(f"s{number}").encode() for number, name in enumerate(HOSTILE)}
    written(logs / "night", made, packing)
    before = sorted(logs.parent.iterdir())
    report = load([logs], store)
    assert (report.loaded, report.rejected) == (len(HOSTILE), ())
    assert sorted(logs.parent.iterdir()) == sorted([*before, store])
    names = {path.partition("!")[2] for (path,) in ask(store, "SELECT path FROM files")}
    assert names == {name.replace("\\", "\\\\") for name in HOSTILE}
    assert load([logs], store).generation is None


@pytest.mark.thorough
def test_names_in_no_encoding_are_kept_apart(logs: Path, store: Path) -> None:
    with tarfile.open(logs / "night.tar", "w", format=tarfile.GNU_FORMAT) as archive:
        for number, name in enumerate(["a\udcff", "a\udcfe"]):
            info = tarfile.TarInfo(name)
            info.size = len(session(f"s{number}"))
            archive.addfile(info, io.BytesIO(session(f"s{number}").encode()))
    assert load([logs], store).loaded == 2
    names = sorted(path.partition("!")[2] for (path,) in ask(store, "SELECT path FROM files"))
    assert names == ["a\\xfe", "a\\xff"]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize("packing", SOME)
def test_of_two_members_of_one_name_the_last_counts(logs: Path, store: Path, packing: str) -> None:
    made = io.BytesIO()
    twice = [("a", session("old")), ("b", session("other")), ("a", session("new"))]
    if packing == "zip":
        with zipfile.ZipFile(made, "w") as archive:
            for name, content in twice[:2]:
                archive.writestr(name, content)
            with pytest.warns(UserWarning, match="Duplicate name"):
                archive.writestr(*twice[2])
    else:
        with tarfile.open(fileobj=made, mode="w") as tar:
            for name, content in twice:
                info = tarfile.TarInfo(name)
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content.encode()))
    data = made.getvalue()
    (logs / "night").write_bytes(gzip.compress(data) if packing == "tar.gz" else data)
    load([logs], store)
    assert sorted(ask(store, "SELECT session_id FROM sessions")) == [("new",), ("other",)]


@pytest.mark.parametrize("how", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_every_age_of_tar_gives_what_the_standard_library_gives(tmp_path: Path, how: int) -> None:
    names = ["a", "b" * 90 + "/" + "c" * 90, "empty", "z" * 99]
    if how != tarfile.USTAR_FORMAT:
        names += ["long/" * 40 + "x", "ümläut"]
    made = {name: f"{number}".encode() * (number * 700) for number, name in enumerate(names)}
    path = tmp_path / "x.tar"
    path.write_bytes(tarred(made, form=how))
    assert {member.name.partition("!")[2]: content_of(member) for member in listed(path)} == made


# --- what a worker and a format may do ---------------------------------------------------------------


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_member_opens_in_another_process_and_in_any_order(tmp_path: Path, packing: str) -> None:
    members = listed(written(tmp_path / "night", LOGS, packing))
    sent: list[LogFile] = pickle.loads(pickle.dumps(members))  # noqa: S301 - our own
    assert {member.name.partition("!")[2]: content_of(member) for member in reversed(sent)} == LOGS


@pytest.mark.parametrize("packing", ["zip", "tar"])
def test_a_neighbour_in_the_archive_is_found(tmp_path: Path, packing: str) -> None:
    member = listed(written(tmp_path / "night", {**LOGS, "s1.jsonl": b"elsewhere"}, packing))[0]
    beside: Callable[[str], object] = member.place.sibling
    neighbour = member.place.sibling("s1.jsonl")
    assert neighbour is not None
    with neighbour.open() as stream:
        assert stream.read() == LOGS["night/s1.jsonl"]
    assert [beside(name) for name in ("nowhere", "../s1.jsonl", "", "..")] == [None] * 4


@pytest.mark.thorough
def test_a_log_that_becomes_an_archive_stays_beside_its_members(logs: Path, store: Path) -> None:
    (logs / "night").write_text(session("s9"))
    load([logs], store)
    zipped(logs / "night", LOGS)
    load([logs], store)
    assert sorted(ask(store, "SELECT session_id FROM sessions")) == [("s1",), ("s2",), ("s3",), ("s9",)]
    assert count(store, "files") == 4


def test_an_archive_of_nothing_is_named(logs: Path, begun: Path) -> None:
    zipped(logs / "night", {".hidden": b"x"})
    load([logs], begun)
    assert rejected(begun) == {"night": "is an archive without files (hidden files are skipped)"}


def test_a_member_on_a_tape_that_was_wound_on_does_not_give_anothers_bytes(tmp_path: Path) -> None:
    big = {name: content * 3_000 for name, content in LOGS.items()}
    first, second, *_ = listed(written(tmp_path / "night", big, "tar.gz"))
    with open_log(first) as opened:
        opened.read(10)
        with open_log(second) as two:
            two.read(10)
        with pytest.raises((ValueError, DamagedFileError)):
            opened.readall()


@pytest.mark.thorough
@pytest.mark.parametrize("packing", SOME)
def test_what_was_refused_in_an_archive_can_be_tried_again(
    logs: Path, store: Path, packing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(logs / "night", LOGS, packing)
    recognise = formats()["session_history"].recognise
    with monkeypatch.context() as older:
        older.setattr(
            formats()["session_history"], "recognise", lambda head: "s1" not in str(head) and recognise(head)
        )
        assert load([logs], store).loaded == 2
    assert load([logs], store).loaded == 0
    report, left = retry_rejected(store)
    assert report is not None
    assert (report.loaded, report.unchanged, left) == (1, 2, [])
    assert (count(store, "sessions"), rejected(store)) == (3, {})
    assert retry_rejected(store) == (None, [])


@pytest.mark.thorough
def test_what_was_piped_in_cannot_be_tried_again(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    piped(monkeypatch, (session("s1") + "broken\n").encode())
    load(["-"], store)
    report, (sentence,) = retry_rejected(store)
    assert report is None
    assert sentence.startswith("stdin:")
    assert sentence.endswith("was piped in; pipe it in again")
