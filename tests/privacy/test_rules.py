"""Tests the redaction settings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ingest.errors import OptionError
from ingest.privacy.redactor import Redactor
from ingest.privacy.rules import RedactionRules, read_rules

TEXT = 'alice@example.org 93.184.216.34 TICKET-4711 employee alice7 "q9Xv3LmZ0TtRw8KpYs7NdGh2BcJf4Ae1"'


def redacted(folder: Path, config: str) -> str:
    path = folder / "redact.toml"
    path.write_text(config)
    return Redactor(read_rules(path), b"key").redact_text(TEXT)


def test_detectors_can_be_switched_off_and_on(tmp_path: Path) -> None:
    quiet = redacted(tmp_path, "[detectors]\nemail = false\n")
    assert quiet == TEXT
    loud = redacted(tmp_path, "[detectors]\nip = true\nhigh_entropy = true\n")
    assert "alice@" not in loud
    assert "93.184.216.34" not in loud
    assert "q9Xv3" not in loud


def test_own_patterns_replace_what_they_fit_or_their_group(tmp_path: Path) -> None:
    new = redacted(
        tmp_path,
        r"""[patterns]
ticket = 'TICKET-\d+'
staff = 'employee (\w+)'
""",
    )
    assert "TICKET-4711" not in new
    assert "employee alice7" not in new
    assert "employee st" in new, "the type is spelled"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("[detectors", "not TOML"),
        ("[detector]\nemail = true", "[detector] is unknown"),
        ("[detectors]\nemial = true", "unknown detector 'emial'; use one of age, "),
        ("[detectors]\nemail = 'no'", "detectors.email must be true or false"),
        ("detectors = 3", "detectors must be a table"),
        ("[patterns]\nTicket = 'x'", "lower-case letters"),
        ("[patterns]\nticket = 3", "must be the text of a regular expression"),
        ("[patterns]\nticket = '('", "patterns.ticket is not a valid regular expression"),
        ("[patterns]\nticket = 'x*'", "an empty text"),
    ],
)
def test_a_wrong_configuration_is_one_sentence_that_names_the_file(
    config: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(OptionError, match=r"redact\.toml") as refused:
        redacted(tmp_path, config)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_configuration_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="No such file"):
        read_rules(tmp_path / "gone.toml")


def test_the_documents_name_every_detector_and_their_example_is_read(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "privacy.md").read_text("utf-8")
    named = set(re.findall(r"`([a-z_]+)`", text.split("## What is found")[1].split("```toml")[0]))
    path = tmp_path / "redact.toml"
    path.write_text("[detectors]\n" + "".join(f"{name} = true\n" for name in sorted(named)))
    everything = read_rules(path).on
    assert everything == named
    path.write_text(text.split("```toml")[1].split("```")[0])
    assert [pattern.kind for pattern in read_rules(path).own] == ["ticket", "staff"]
    with pytest.raises(OptionError) as refused:
        redacted(tmp_path, "[detectors]\nnone = true")
    assert all(name in str(refused.value) for name in everything)


def test_other_rules_have_another_fingerprint(tmp_path: Path) -> None:
    path = tmp_path / "redact.toml"
    path.write_text("[patterns]\nticket = 'TICKET'\n")
    assert read_rules(path).fingerprint != RedactionRules().fingerprint
    assert read_rules(None) == RedactionRules()
