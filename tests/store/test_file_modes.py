"""Tests that the files of a store are as private as its folder."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from callgauge.cli.main import app
from callgauge.memory.memory_file import MemoryFile
from callgauge.serving.access_log import AccessLog
from ingest.backup.make_backup import make_backup
from ingest.backup.restore import restore
from ingest.pipeline.load import load
from ingest.privacy.configuration import PrivacyOptions
from ingest.privacy.rules import read_rules
from ingest.safe_files import lock_file
from ingest.store.generations import lock_store, prepare_store
from tests.store.night import session
from tests.store.sealed_months import seal_everything

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no file modes")


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): f"{stat.S_IMODE(path.stat().st_mode):o}"
        for path in sorted(folder.rglob("*"))
    }


def open_paths(folder: Path) -> dict[str, str]:
    """Return the file paths that users other than the owner may use, each with its file mode."""
    return {name: mode for name, mode in modes(folder).items() if int(mode, 8) & 0o077}


def fill(logs: Path, store: Path, days: int = 3) -> None:
    """Load several months, and write the files that servers and people write."""
    for month in range(1, days + 1):
        (logs / f"{month}.jsonl").write_text(session(f"s{month}").replace("2026-11", f"2026-{month:02}"))
    load([logs], store, private=PrivacyOptions(rules=read_rules(None)))
    MemoryFile(store).write()
    AccessLog(store).write("page")


def test_only_its_owner_may_use_a_new_store(logs: Path, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seal_everything(monkeypatch)
    fill(logs, store)
    assert any(name.startswith("seg-") for name in modes(store)), "segments, too"
    assert {"CURRENT", "lock", "memory.sqlite", "access.jsonl", "redaction.key"} <= {*modes(store)}
    assert (stat.S_IMODE(store.stat().st_mode), open_paths(store)) == (0o700, {})
    assert os.umask(0o022) == 0o022, "a load leaves the umask of its process"


def test_files_are_private_while_they_are_written(logs: Path, store: Path) -> None:
    seen: set[str] = set()

    def look(_step: str) -> None:
        seen.update(modes(store))
        assert open_paths(store) == {}

    (logs / "a.jsonl").write_text(session("a"))
    load([logs], store, on_write=look)
    assert any(name.startswith("building.duckdb") for name in seen), "the half-written file was there"


def test_a_folder_with_the_set_group_id_bit_shares_the_store_with_its_group(logs: Path, store: Path) -> None:
    store.mkdir()
    store.chmod(0o2770)
    os.umask(0o077)
    fill(logs, store)
    file_modes = modes(store)
    for name in ("CURRENT", "lock", "memory.sqlite", "access.jsonl", "gen-000001.duckdb"):
        assert file_modes[name] == "660", name
    assert file_modes["redaction.key"] == "600"
    store.chmod(0o2750)
    (store / "CURRENT").unlink()
    prepare_store(store)
    with lock_store(store):
        (store / "new").touch()
    assert modes(store)["new"] == "640"


def test_the_mode_of_an_older_store_stays_and_loads_name_the_command(tmp_path: Path, logs: Path) -> None:
    (logs / "a.jsonl").write_text(session("a"))
    outside = Path("/var/tmp") / f"callgauge-test-{os.getpid()}"  # noqa: S108 - a folder that everybody may enter
    outside.mkdir()
    try:
        outside.chmod(0o755)
        result = CliRunner().invoke(app, ["ingest", str(logs), "--store", str(outside)])
        assert (result.exit_code, stat.S_IMODE(outside.stat().st_mode)) == (0, 0o755)
        assert f"Run `chmod 700 {outside}`" in result.stderr
        outside.chmod(0o700)
        again = CliRunner().invoke(app, ["ingest", str(logs), "--store", str(outside)])
        assert "chmod" not in again.stderr
    finally:
        shutil.rmtree(outside)


def test_a_private_folder_above_makes_a_store_private(tmp_path: Path, logs: Path) -> None:
    (logs / "a.jsonl").write_text(session("a"))
    above = tmp_path / "above"
    (above / "store").mkdir(parents=True)
    above.chmod(0o700)
    result = CliRunner().invoke(app, ["ingest", str(logs), "--store", str(above / "store")])
    assert (result.exit_code, "chmod" in result.stderr) == (0, False)


def test_backups_and_restored_stores_are_private(logs: Path, store: Path, tmp_path: Path) -> None:
    fill(logs, store, days=1)
    place, copy = tmp_path / "backups", tmp_path / "copy"
    make_backup(store, str(place))
    restore(str(place), copy)
    for folder in (place, copy):
        assert (stat.S_IMODE(folder.stat().st_mode), open_paths(folder)) == (0o700, {}), folder
    assert open_paths(store) == {}


def test_a_lock_in_a_shared_folder_can_be_held_by_the_group(tmp_path: Path) -> None:
    tmp_path.chmod(0o2770)
    with lock_file(tmp_path / "a.lock", lambda _owner: None):
        assert modes(tmp_path)["a.lock"] == "660"


@pytest.mark.thorough
@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="needs to be able to become other users")
def test_another_user_may_read_nothing_and_a_user_of_the_group_may_serve(tmp_path: Path) -> None:
    """Two users of one group load and serve. A third user cannot read anything."""
    store = Path("/var/tmp") / f"callgauge-test-{os.getpid()}"  # noqa: S108 - a folder that everybody may enter
    store.mkdir()
    try:
        os.chown(store, 0, 4242)
        store.chmod(0o2770)
        logs = tmp_path / "logs"
        logs.mkdir()
        fill(logs, store, days=1)

        def read_as(user: int, group: int) -> int:
            process = subprocess.run(
                ["cat", str(store / "CURRENT"), str(store / "memory.sqlite")],
                user=user, group=group, extra_groups=[], capture_output=True, check=False,
            )  # fmt: skip
            return process.returncode

        assert (read_as(4243, 4242), read_as(4243, 4243)) == (0, 1)
    finally:
        shutil.rmtree(store)
