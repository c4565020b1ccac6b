"""Tests that no invented secret stays in the store, for any kind, position and format."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from callgauge.cli import main as cli
from ingest.privacy.decoded_views import decode_layers
from ingest.privacy.rules import RedactionRules
from lenient import parse_arguments
from tests.privacy.planted import PLANTED, SPELLINGS, split_marks
from tests.privacy.test_detectors import REDACTOR
from tests.privacy.test_loads import bytes_of
from tests.store.night import ask, claude_code_session, session

_WHOLE = 8  # characters; a shorter value may also be a part of another word
_JSON = ("JSON", "JSON, every sign", "JSON in JSON", "URL in JSON", "broken, in JSON")
TEXTS = [text for texts in PLANTED.values() for text in texts]


def readings(text: str) -> Iterator[str]:
    """Yield each decoding of a string that a reader may use, with and without line breaks."""
    for shown in (text, *(view.text for view in decode_layers(text))):
        yield shown
        yield re.sub(r"\n  ", "", shown)


def find_seen(text: str, values: Iterable[str]) -> list[str]:
    shown = "\0".join(readings(text))
    return [value for value in values if is_seen(value, shown)]


@cache
def pattern_of(value: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])")


def is_seen(value: str, text: str) -> bool:
    return value in text if len(value) >= _WHOLE else pattern_of(value).search(text) is not None


def halves(value: str) -> tuple[str, str]:
    middle = (len(value) + 1) // 2
    return value[:middle], value[middle:]


def test_every_kind_that_is_found_is_planted() -> None:
    assert set(PLANTED) == set(RedactionRules().on)


@pytest.mark.parametrize("kind", PLANTED)
def test_a_value_is_found_however_it_is_spelled(kind: str) -> None:
    for text, spelling in product(PLANTED[kind], SPELLINGS):
        values = split_marks(text)[1]
        for around in ("{}", "Note this:\n{}\nand go on with it.\n"):
            written = around.format(SPELLINGS[spelling](text))
            new = REDACTOR.redact_text(written)
            assert len(new) == len(written)
            assert find_seen(written, values), "the value is there before"
            parts = [part for value in values for part in halves(value)] if "broken" in spelling else values
            assert not find_seen(new, parts), (spelling, written, new)


@pytest.mark.parametrize("spelling", _JSON)
def test_broken_arguments_fail_at_the_same_places_and_decode_to_nothing_planted(spelling: str) -> None:
    for text in TEXTS:
        values = split_marks(text)[1]
        raw = f'{{"note": "{SPELLINGS[spelling](text)}", "to": \'x\', "limit": "5"'
        new = REDACTOR.redact_text(raw, parsed=True)
        before, after = parse_arguments(raw), parse_arguments(new)
        assert [(diagnostic.code, diagnostic.start, diagnostic.end) for diagnostic in after.diagnostics] == [
            (diagnostic.code, diagnostic.start, diagnostic.end) for diagnostic in before.diagnostics
        ], (raw, new)
        assert find_seen(json.dumps(before.arguments, ensure_ascii=False), values), raw
        assert not find_seen(json.dumps(after.arguments, ensure_ascii=False), values), (raw, new)


def write_logs(folder: Path) -> list[str]:
    """Write logs in several formats, with every planted string at every position. Return all values."""
    spellings = cycle(spelling for spelling in SPELLINGS if "broken" not in spelling)
    lines: list[str] = []
    values: list[str] = []
    for number, text in enumerate(TEXTS):
        plain, marked = split_marks(text)
        values += marked
        for spelled in (plain, SPELLINGS[next(spellings)](text), SPELLINGS[next(spellings)](text)):
            lines.append(session_with_text(f"s{len(lines)} ({plain})", spelled))
            lines.append(f'{{"type": "turn_start", {json.dumps(spelled)}\n')
            cut = json.dumps(plain)[1:]  # the value ends where the excerpt of the line ends
            lines.append(f'{{"type": "turn_start", "x": {"-" * 150} {cut}\n')
        (folder / f"{number}.jsonl").write_text(chat(plain, SPELLINGS[next(spellings)](text)))
    (folder / "history.jsonl").write_text("".join(lines))
    decoded = claude_code_session("c").replace(
        '"a.py"', json.dumps({"notes": [split_marks(text)[0] for text in TEXTS]})
    )
    (folder / "claude.jsonl").write_text(decoded)
    (folder / "mail alice.smith@example.com sk_live_aB3dE5gH7jK9mN1pQ2sT4vW6.jsonl").write_text(
        session("named")
    )
    return values


def session_with_text(name: str, text: str) -> str:
    raw = f'{{"note": {json.dumps(text)}, "limit": 3'
    log = session(name, turns=(2,), raw=raw)
    for phrase in ("You write code.", "question 1", "text of the file", "Done."):
        log = log.replace(json.dumps(phrase), json.dumps(text))
    return log.replace('"success"', '"error"', 1)


def chat(plain: str, spelled: str) -> str:
    at = {"type": "string", "description": plain, "default": plain}
    parameters = {"type": "object", "properties": {"at": at}}
    tool = {"name": "look", "description": f"Looks: {spelled}", "parameters": parameters}
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "look", "arguments": json.dumps({"at": spelled})},
    }
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": spelled},
        {"role": "user", "content": plain},
        {"role": "assistant", "content": spelled, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": f"Error: {plain}"},
        {"role": "assistant", "content": plain},
    ]
    return json.dumps({"messages": messages, "tools": [{"type": "function", "function": tool}]}) + "\n"


def every_text(store: Path) -> Iterator[str]:
    for (table,) in ask(store, "SELECT table_name FROM duckdb_tables()"):
        for row in ask(store, f"SELECT * FROM {table}"):  # noqa: S608 - our own tables
            for value in row:
                if isinstance(value, bytes):
                    yield value.decode("utf-8", "replace")
                elif value is not None:
                    yield str(value)


def run(*words: Any) -> Any:
    return CliRunner().invoke(cli.app, [str(word) for word in words])


@pytest.mark.thorough
def test_no_table_and_no_output_shows_a_planted_value(tmp_path: Path) -> None:
    logs, store, tools = tmp_path / "logs", tmp_path / "store", tmp_path / "tools.json"
    logs.mkdir()
    values = sorted(set(write_logs(logs)))
    texts = [split_marks(text)[0] for text in TEXTS]
    tools.write_text(json.dumps([{"name": f"t{at}", "description": text} for at, text in enumerate(texts)]))
    loaded = run("ingest", logs, "--store", store, "--tools", tools, "--redact")
    assert loaded.exit_code == 3, loaded.output
    assert ask(store, "SELECT count(*) > 1000 FROM tool_calls") == [(True,)]
    stored = bytes_of(store)
    assert not [value for value in values if len(value) >= _WHOLE and value.encode() in stored]
    shown = "\0".join(reading for text in sorted(set(every_text(store))) for reading in readings(text))
    assert not [value for value in values if is_seen(value, shown)]
    outputs = [loaded.output] + [
        run(*words, "--store", store).output
        for words in (("rejects",), ("rejects", "--json"), ("report",), ("report", "--json"))
    ]
    assert not [value for value in values for output in outputs if is_seen(value, output)]
