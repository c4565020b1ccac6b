"""Tests names that people give to prompts, by id or hash."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from ingest.errors import InputError
from ingest.pipeline.load import load
from ingest.store.generations import published_generation

EXAMPLE = Path(__file__).parents[2] / "docs" / "session-log.example.jsonl"


def labels_in(store: Path) -> dict[str, str | None]:
    generation = published_generation(store)
    assert generation is not None
    with duckdb.connect(str(generation), read_only=True) as con:
        return dict(con.execute("SELECT prompt_id, label FROM prompts").fetchall())


def label_file(folder: Path, text: str) -> Path:
    path = folder / "labels.json"
    path.write_text(text)
    return path


@pytest.mark.thorough
def test_a_prompt_is_labelled_by_its_id_and_keeps_the_label(logs: Path, store: Path) -> None:
    load([EXAMPLE], store, labels=label_file(logs, '{"support@7": "Support, short"}'))
    assert labels_in(store)["support@7"] == "Support, short"
    (logs / "more.jsonl").write_bytes(EXAMPLE.read_bytes().replace(b'"7"', b'"8"'))
    load([logs / "more.jsonl"], store)
    assert labels_in(store)["support@7"] == "Support, short"


@pytest.mark.thorough
def test_a_prompt_is_labelled_by_the_beginning_of_its_texts_hash(logs: Path, store: Path) -> None:
    load([EXAMPLE], store)
    with duckdb.connect(str(published_generation(store)), read_only=True) as con:
        ((text_hash,),) = con.execute(
            "SELECT text_hash FROM prompts WHERE prompt_id = 'support@7'"
        ).fetchall()
    load([EXAMPLE], store, labels=label_file(logs, f'{{"{text_hash[:8]}": "Found by hash"}}'))
    assert labels_in(store)["support@7"] == "Found by hash"


@pytest.mark.thorough
def test_new_labels_are_published_and_the_same_ones_are_no_news(logs: Path, store: Path) -> None:
    load([EXAMPLE], store)
    path = label_file(logs, '{"support@7": "A"}')
    assert load([EXAMPLE], store, labels=path).generation == "gen-000002.duckdb"
    assert load([EXAMPLE], store, labels=path).generation is None


@pytest.mark.parametrize("text", ["", "[]", '{"support@7": 1}', '{"abc": "too short"}'])
def test_labels_that_cannot_be_read_are_one_sentence(text: str, logs: Path, store: Path) -> None:
    path = label_file(logs, text)
    with pytest.raises(InputError, match=str(path)):
        load([EXAMPLE], store, labels=path)
    assert not store.exists()
