"""Tests callgauge.toml. The message for a mistake contains the line, the key and a correction."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from msgspec import NODEFAULT

from callgauge.checked_files.field_types import KeyedTable, ListOf, NamedTables, list_declared
from callgauge.checked_files.file_problems import Mistake
from callgauge.configuration.configuration_file import (
    CONFIGURATION,
    EXAMPLE,
    ConfigurationError,
    configuration_schema,
    read_configuration,
)
from callgauge.configuration.settings import (
    BackupSettings,
    Configuration,
    EmailSettings,
    LoadSettings,
    ServeSettings,
    SignInSettings,
)
from tests.conftest import CASES

MISTAKES = json.loads((CASES / "configuration" / "mistakes.json").read_text(encoding="utf-8"))
ROOT = CASES.parents[1]
SCHEMA = jsonschema.Draft7Validator(configuration_schema())


def read_text(folder: Path, text: str) -> Configuration:
    path = folder / "callgauge.toml"
    path.write_text(text, encoding="utf-8")
    return read_configuration(path)


@pytest.mark.parametrize("case", MISTAKES, ids=[case["name"] for case in MISTAKES])
def test_every_mistake_is_told_at_once(case: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as error:
        read_text(tmp_path, case["text"])
    messages = [re.sub(r"^.*?callgauge\.toml: ?", "", str(problem)) for problem in error.value.problems]
    assert messages == case["told"]
    if case["by_schema"] is not None:
        assert SCHEMA.is_valid(tomllib.loads(case["text"])) is not case["by_schema"]


@pytest.mark.parametrize("data", [b"\xff\xfe", b"\x00", b"store = 'a'\n\xc3"], ids=repr)
def test_what_is_no_text_is_told_so(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "callgauge.toml"
    path.write_bytes(data)
    with pytest.raises(ConfigurationError, match=r"is not UTF-8 text|invalid TOML"):
        read_configuration(path)


def test_a_file_that_is_not_there_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read: no such file"):
        read_configuration(tmp_path / "callgauge.toml")


def test_places_begin_at_the_files_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "team[1]"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    read = read_text(
        folder,
        'store = "../store"\n[sources.a]\npaths = ["logs/*.jsonl", "logs", "s3://b/c/../d", "~/x"]\n'
        'manifests = "list.txt"\n[backup]\nto = "b"\n[load]\ntools = "t.json"\nlabels = "/l.json"\n',
    )
    (source,) = read.sources
    assert read.store == tmp_path / "store"
    assert source.paths == (
        f"{tmp_path}/team[[]1]/logs/*.jsonl", f"{folder}/logs", "s3://b/c/../d", f"{tmp_path}/home/x",
    )  # fmt: skip
    assert (source.manifests, read.backup.to) == ((f"{folder}/list.txt",), f"{folder}/b")
    assert (read.load.tools, str(read.load.labels)) == ((folder / "t.json",), "/l.json")


def test_zero_days_never_make_a_source_silent(tmp_path: Path) -> None:
    read = read_text(
        tmp_path, 'store = "s"\nsources.a = {paths = "a", silent_after = 0}\nsources.b = {paths = "b"}'
    )
    assert [source.silent_after for source in read.sources] == [None, 2.0]


def test_a_store_alone_is_a_configuration(tmp_path: Path) -> None:
    read = read_text(tmp_path, 'store = "s"')
    assert (read.sources, read.backup.to, read.sign_in.method, read.serve.port) == ((), None, "none", 8501)


def test_the_example_is_read_and_names_every_key(tmp_path: Path) -> None:
    read = read_text(tmp_path, EXAMPLE)
    assert [source.name for source in read.sources] == ["gateway-eu", "gateway-us"]
    assert read.aliases == {"our-proxy/sonnet": "claude-sonnet-4-5"}
    everything = re.sub(r"^#(?=[a-z_]+ = )", "", EXAMPLE, flags=re.MULTILINE)
    read_text(tmp_path, everything)
    of_others = re.sub(r"^##(?=[a-z_]+ = )", "", everything, flags=re.MULTILINE)
    assert list(list_keys(CONFIGURATION, tomllib.loads(of_others))) == []
    assert SCHEMA.is_valid(tomllib.loads(of_others))


def list_keys(table: KeyedTable, values: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yield each key of a TOML table and its subtables, unless `values` sets the key."""
    for name, entry in table.fields.items():
        key, inner, value = f"{above}{name}", entry.type, values.get(name)
        if value is None:
            yield key
            continue
        if isinstance(inner, NamedTables | ListOf):
            inner = inner.item
            value = next(iter(value.values() if isinstance(value, Mapping) else value))
        if isinstance(inner, KeyedTable):
            yield from list_keys(inner, value, f"{key}.")


def test_the_documentations_example_is_read(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
    section = page.partition("## Configuration")[2].partition("\n## ")[0]
    (example,) = re.findall(r"^```toml\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    assert [source.name for source in read_text(tmp_path, example).sources] == ["gateway-eu", "gateway-us"]


def test_every_default_of_the_settings_is_accepted_in_the_file() -> None:
    for declaration in (LoadSettings, BackupSettings, EmailSettings, ServeSettings, SignInSettings):
        for attribute, key, field_type, _ in list_declared(declaration):
            default, mistakes = attribute.default, list[Mistake]()
            if default and default is not NODEFAULT and not key.name.endswith("secret"):
                value = list(default) if isinstance(default, tuple) else default
                assert field_type.read(value, (key.name,), mistakes) == default, mistakes


def test_the_schema_is_one() -> None:
    jsonschema.Draft7Validator.check_schema(configuration_schema())
