"""Tests sessions that consist of many files."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from ingest.maintenance.rejects import list_rejects, retry_rejected
from ingest.pipeline.dry_run import forecast_load
from ingest.pipeline.load import load
from ingest.pipeline.reading.format_explanation import explain_files
from ingest.pipeline.survey import survey_machine
from ingest.privacy.configuration import PrivacyOptions
from ingest.privacy.rules import RedactionRules
from tests.sources.archives import tarred, zipped
from tests.store.night import ask

CALLS = (
    "SELECT session_id, tool_call_id, tool, result_status FROM tool_calls WHERE NOT duplicate ORDER BY ALL"
)
PLACES = """
    SELECT m.path, c.line - m.line + 1, c.byte_offset - m.byte_offset, c.tool_call_id
    FROM tool_calls c
    ASOF LEFT JOIN file_members m ON m.file_id = c.file_id AND m.byte_offset <= c.byte_offset
    ORDER BY c.file_id, c.byte_offset"""


def put(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False), encoding="utf-8")
    return path


def add_message(tree: Path, session: str, number: int, *parts: dict[str, object]) -> None:
    """Add a message. If it contains only text, it is from the user. Otherwise, it is from the model."""
    name = f"msg_{session}{number}"
    role = "assistant" if any(part["type"] == "tool" for part in parts) else "user"
    put(tree / "message" / f"ses_{session}" / f"{name}.json", {"id": name, "role": role, "modelID": "m"})
    for position, part in enumerate(parts):
        put(tree / "part" / name / f"prt_{session}{number}{position}.json", part)


def words(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def tool(call: str, status: str = "completed") -> dict[str, object]:
    return {"type": "tool", "tool": "read", "callID": call, "state": {"status": status, "input": {"é": call}}}


@pytest.fixture
def tree(logs: Path) -> Path:
    storage = logs / "opencode" / "storage"
    for session in ("a", "b"):
        put(storage / "session" / "p" / f"ses_{session}.json", {"id": f"ses_{session}", "projectID": "p"})
        add_message(storage, session, 1, words("do it"))
        add_message(storage, session, 2, tool(f"{session}1"), tool(f"{session}2", "running"))
    add_message(storage, "a", 3, tool("a3", "error"))
    put(storage / "todo" / "ses_a.json", [])
    put(storage / "project" / "p.json", {"id": "p"})
    return storage


OURS = [
    ("ses_a", "a1", "read", "ok"),
    ("ses_a", "a2", "read", "missing"),
    ("ses_a", "a3", "read", "error"),
    ("ses_b", "b1", "read", "ok"),
    ("ses_b", "b2", "read", "missing"),
]


def names(tree: Path, store: Path) -> list[str]:
    root = f"{tree}/"
    return [path.removeprefix(root) for (path,) in ask(store, "SELECT path FROM files ORDER BY path")]


def test_a_session_is_one_log_and_what_holds_no_calls_is_passed_over(
    logs: Path, tree: Path, store: Path
) -> None:
    report = load([logs], store)
    assert (report.loaded, report.sessions, report.calls, report.rejects) == (2, 2, 5, 0)
    assert report.rejected == report.companions == ()
    note = f"skipped 2 files in {tree} that opencode keeps next to its sessions (they contain no calls)"
    assert note in report.notes
    assert ask(store, CALLS) == OURS
    assert names(tree, store) == ["session/p/ses_a.json", "session/p/ses_b.json"]


def test_each_call_stands_in_the_file_of_its_part(logs: Path, tree: Path, store: Path) -> None:
    load([logs], store)
    for path, line, byte, call in ask(store, PLACES):
        content = json.loads(Path(path).read_bytes())
        assert (content["callID"], line, byte) == (call, 1, 0)


def test_a_call_within_a_file_has_its_line_and_byte(logs: Path, store: Path) -> None:
    content = [
        {"text": "é"},
        *({"toolUse": {"toolUseId": f"t{n}", "name": "x", "input": {}}} for n in (1, 2)),
    ]
    folder = logs / "session_s" / "agents" / "agent_default" / "messages"
    put(
        folder / "message_1.json", {"message": {"role": "user", "content": [{"text": "go"}]}, "message_id": 1}
    )
    put(folder / "message_2.json", {"message": {"role": "assistant", "content": content}, "message_id": 2})
    load([logs], store)
    rows = ask(store, PLACES)
    assert [call for *_, call in rows] == ["t1", "t2"]
    for path, line, byte, call in rows:
        data = Path(path).read_bytes()
        assert data.count(b"\n", 0, byte) == line - 1
        assert f'"{call}"'.encode() in data[byte:].split(b"\n")[0]


SAMPLES = Path(__file__).parents[2] / "sample_data" / "logs"
RESULTS = "SELECT tool_call_id, tool, result_text FROM tool_calls ORDER BY ALL"


def test_the_sample_of_opencode_has_the_calls_that_its_parts_hold(store: Path) -> None:
    parts = [json.loads(path.read_bytes()) for path in (SAMPLES / "opencode/storage/part").glob("*/*.json")]
    counted = [
        (part["callID"], part["state"]["input"].get("tool", part["tool"]), text)
        for part in parts
        if part["type"] == "tool"
        for text in [part["state"].get("output", part["state"].get("error"))]
    ]
    load([SAMPLES / "opencode" / "storage"], store)
    assert len(counted) == 8
    assert ask(store, RESULTS) == sorted((call, tool, text or None) for call, tool, text in counted)


def test_the_sample_of_strands_has_the_calls_that_its_messages_hold(store: Path) -> None:
    folder = SAMPLES / "strands" / "session_made_trip"
    files = [json.loads(path.read_bytes()) for path in folder.rglob("message_*.json")]
    blocks = [block for file in files for block in file["message"]["content"]]
    names = {
        block["toolUse"]["toolUseId"]: block["toolUse"]["name"] for block in blocks if "toolUse" in block
    }
    results = [block["toolResult"] for block in blocks if "toolResult" in block]
    load([folder], store)
    assert len(names) == 5
    assert ask(store, RESULTS) == sorted(
        (result["toolUseId"], names[result["toolUseId"]], result["content"][0]["text"]) for result in results
    )


@pytest.mark.thorough
def test_only_the_session_with_a_changed_or_new_file_is_read_again(
    logs: Path, tree: Path, store: Path
) -> None:
    load([logs], store)
    again = load([logs], store)
    assert (again.loaded, again.unchanged, again.generation) == (0, 2, None)
    parts = ask(store, "SELECT count(*), count(DISTINCT path) FROM file_members")
    assert parts == [(len(list(tree.glob("[smp]*/*/*.json"))),) * 2]
    put(tree / "part" / "msg_a2" / "prt_a21.json", tool("a2"))
    changed = load([logs], store)
    assert (changed.loaded, changed.unchanged, changed.sessions_replaced) == (1, 1, 1)
    assert ask(store, CALLS) == [row if row[1] != "a2" else ("ses_a", "a2", "read", "ok") for row in OURS]
    add_message(tree, "b", 3, tool("b3"))
    assert load([logs], store).calls == 3
    shutil.rmtree(tree / "part" / "msg_b2")
    assert load([logs], store).calls_fewer == 2
    assert [call for _, call, *_ in ask(store, CALLS)] == ["a1", "a2", "a3", "b3"]


@pytest.mark.thorough(quick=1)
@pytest.mark.parametrize(
    ("named", "calls"),
    [
        ("session/p/ses_a.json", 3),
        ("message", 5),
        ("part", 5),
        ("part/msg_a2/prt_a20.json", 3),
        ("message/ses_b/msg_b1.json", 2),
        ("session", 5),
    ],
)
def test_whatever_file_of_a_session_is_named_all_of_it_is_read(
    tree: Path, store: Path, named: str, calls: int
) -> None:
    assert load([tree / named], store).calls == calls
    assert forecast_load([tree], store).rejected == ()
    assert {claim.name for claim in explain_files(tree / named)} == {"opencode"}


@pytest.mark.thorough
def test_a_session_whose_own_file_is_missing_is_read(logs: Path, tree: Path, store: Path) -> None:
    (tree / "session" / "p" / "ses_a.json").unlink()
    assert load([logs], store).calls == 5
    assert ask(store, CALLS) == OURS
    assert names(tree, store) == ["message/ses_a", "session/p/ses_b.json"]
    assert load([logs], store).unchanged == 2


@pytest.mark.thorough
def test_parts_whose_message_is_missing_are_rejected_one_by_one(logs: Path, tree: Path, store: Path) -> None:
    (tree / "message" / "ses_a" / "msg_a2.json").unlink()
    report = load([logs], store)
    assert (report.calls, report.rejects) == (3, 2)
    assert [
        (Path(reject.file).name, reject.line, reject.byte_offset, reject.message)
        for reject in list_rejects(store)
    ] == [
        (f"prt_a2{n}.json", 1, 0, "a part of the message msg_a2, whose file is missing or broken")
        for n in (0, 1)
    ]


@pytest.mark.thorough
def test_a_half_written_file_costs_itself_and_is_read_when_it_is_whole(
    logs: Path, tree: Path, store: Path
) -> None:
    part = tree / "part" / "msg_a2" / "prt_a20.json"
    whole = part.read_text()
    part.write_text(whole[:40])
    assert load([logs], store).calls == 4
    [reject] = list_rejects(store)
    assert (reject.file, reject.line, reject.byte_offset, reject.code) == (str(part), 1, 0, "not_json")
    assert reject.snippet == whole[:40]
    assert reject.part_of == str(tree / "session" / "p" / "ses_a.json")
    report, left = retry_rejected(store)
    assert report is not None
    assert (report.loaded, left) == (1, [])
    part.write_text(whole)
    load([logs], store)
    assert ask(store, CALLS) == OURS
    assert list(list_rejects(store)) == []


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize(
    "content", [b"", b" \n\n", b"[]", b"\xff\xfe{}", b'{"a": "\n"}', b'{"session_file": "x", "unread": "y"}']
)
def test_a_file_with_anything_in_it_costs_itself(logs: Path, tree: Path, store: Path, content: bytes) -> None:
    (tree / "part" / "msg_a2" / "prt_a20.json").write_bytes(content)
    report = load([logs], store)
    assert (report.calls, report.rejects) == (4, 1)
    [reject] = list_rejects(store)
    assert reject.file.endswith("prt_a20.json")


@pytest.mark.thorough
def test_a_file_that_cannot_be_opened_costs_itself(logs: Path, tree: Path, store: Path) -> None:
    part = tree / "part" / "msg_a2" / "prt_a20.json"
    part.unlink()
    part.mkdir()
    report = load([logs], store)
    assert (report.calls, report.rejects) == (4, 1)
    [reject] = list_rejects(store)
    assert (reject.file, reject.message) == (str(part), "a file of the session is a folder, not a file")


@pytest.mark.thorough
def test_a_line_limit_is_one_file(logs: Path, tree: Path, store: Path) -> None:
    put(tree / "part" / "msg_a2" / "prt_a20.json", {**tool("a1"), "more": "x" * 3000})
    report = load([logs], store, max_line=1000)
    assert (report.calls, report.rejects) == (4, 1)
    assert load([logs], store).calls == 3


@pytest.mark.thorough
def test_a_copy_of_a_tree_is_a_copy_and_a_moved_tree_is_moved(logs: Path, tree: Path, store: Path) -> None:
    load([logs], store)
    shutil.copytree(tree, logs / "copy" / "storage")
    report = load([logs], store)
    assert (report.loaded, report.unchanged, report.moved) == (0, 4, 0)
    shutil.rmtree(tree)
    (logs / "copy").rename(logs / "other")
    report = load([logs], store)
    assert (report.loaded, report.moved) == (0, 2)
    assert ask(store, CALLS) == OURS


@pytest.mark.thorough
def test_a_tree_in_a_zip_or_tar_is_read_and_in_a_compressed_tar_refused(
    tmp_path: Path, tree: Path, store: Path
) -> None:
    root = tree.parent
    files = {str(path.relative_to(root)): path.read_bytes() for path in tree.rglob("*.json")}
    tar, packed = tmp_path / "a.tar", tmp_path / "a.tar.gz"
    tar.write_bytes(tarred(files))
    packed.write_bytes(gzip.compress(tarred(files)))
    for archive in (tar, zipped(tmp_path / "a.zip", files)):
        target = store.with_name(f"store-{archive.suffix}")
        assert load([archive], target).calls == 5
        assert ask(target, CALLS) == OURS
        assert {path.split("!")[0] for path, *_ in ask(target, PLACES)} == {str(archive)}
        assert load([archive], target).generation is None
    report = load([packed], store)
    assert {rejected.reason for rejected in report.rejected} == {
        "is a session in many files, which cannot be put together in a compressed tar; unpack it"
    }
    assert report.calls == 0


def test_other_folders_of_these_names_are_no_trees(logs: Path, store: Path) -> None:
    for name in ("session/a/b.json", "message/a/b.json", "part/a/b.json", "storage/todo/x.json"):
        put(logs / "web" / name, {"hello": 1})
    assert len(load([logs], store).rejected) == 4


@pytest.mark.thorough
def test_names_of_files_are_redacted_as_those_of_logs_are(logs: Path, store: Path) -> None:
    tree = logs / "jane.doe@example.com" / "storage"
    put(tree / "session" / "p" / "ses_a.json", {"id": "ses_a"})
    add_message(tree, "a", 2, tool("a1"))
    load([logs], store, private=PrivacyOptions(RedactionRules()))
    paths = [path for (path,) in ask(store, "SELECT path FROM file_members UNION SELECT path FROM files")]
    assert len(paths) == 3
    assert not any("jane" in path for path in paths)


@pytest.mark.thorough
def test_the_sessions_of_a_machine_are_found_with_all_their_files(
    tmp_path: Path, tree: Path, store: Path
) -> None:
    home = tmp_path / "home"
    place = home / ".local" / "share" / "opencode" / "storage"
    shutil.copytree(tree, place)
    [survey] = survey_machine(str(home), {})
    size = sum(
        path.stat().st_size for path in place.rglob("*.json") if path.parts[-2] not in ("todo", "project")
    )
    assert (survey.files, survey.bytes, survey.is_read) == (2, size, True)
    assert load(survey.paths, store).calls == 5
    assert load([home], store.with_name("other")).calls == 5
