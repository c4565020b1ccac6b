"""Tests the two packages for a package index. Their READMEs must not need the repository."""

from __future__ import annotations

import email
import email.message
import re
import tarfile
import zipfile

import pytest
from readme_renderer import markdown

import lenient
from ingest.version import CALLGAUGE_VERSION
from tests.packaging.installation import CALLGAUGE, LENIENT, ROOT, build_distribution, build_wheel

RELEASES = {CALLGAUGE: ("callgauge", CALLGAUGE_VERSION), LENIENT: ("callgauge-lenient", lenient.__version__)}


@pytest.fixture(scope="module", params=[CALLGAUGE, LENIENT], ids=["callgauge", "callgauge-lenient"])
def metadata(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> email.message.Message:
    """Return the metadata of a wheel built from the source distribution, as `python -m build` does."""
    folder = tmp_path_factory.mktemp("release")
    source = build_distribution(request.param, folder, "sdist")
    with tarfile.open(source) as archive:
        archive.extractall(folder / "source", filter="data")
    (project,) = (folder / "source").iterdir()
    wheel = zipfile.ZipFile(build_wheel(project, folder / "wheel"))
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    message = email.message_from_bytes(wheel.read(name))
    assert (message["Name"], message["Version"]) == RELEASES[request.param]
    return message


def read_description(metadata: email.message.Message) -> str:
    payload = metadata.get_payload(decode=True)
    assert isinstance(payload, bytes)
    return payload.decode("utf-8")


@pytest.mark.thorough
def test_the_description_renders_and_leads_to_no_file_of_the_repository(
    metadata: email.message.Message,
) -> None:
    assert metadata["Description-Content-Type"] == "text/markdown"
    text = read_description(metadata)
    rendered = markdown.render(text)
    assert rendered is not None
    assert "<!--" not in text
    assert "<img" not in rendered
    links = re.findall(r'(?:href|src)="([^"]*)"', rendered)
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    assert "](" not in re.sub(r"<code>.*?</code>", "", rendered, flags=re.DOTALL)


@pytest.mark.thorough
def test_the_metadata_names_no_person_and_no_address(metadata: email.message.Message) -> None:
    for field in ("Author", "Author-email", "Maintainer", "Maintainer-email", "Home-page", "Project-URL"):
        assert metadata[field] is None


def test_the_version_has_a_section_of_changes() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(CALLGAUGE_VERSION)} - \d{{4}}-\d\d-\d\d$", changes, re.MULTILINE)
