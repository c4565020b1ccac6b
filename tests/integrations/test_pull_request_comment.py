"""Tests the comment that the GitHub action posts on a pull request, against a fake of GitHub's API."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integrations.fake_github import FakeGitHub, serve_github
from tests.integrations.test_github_action import TOKEN, ActionRun, run_action

TEXT = "### Callgauge gate: worse\n\n| rate |\n| --- |\n| parse errors |\n"


@pytest.fixture
def github() -> Iterator[FakeGitHub]:
    with serve_github() as served:
        yield served


def comment(
    folder: Path, github: FakeGitHub, text: str = TEXT, code: int = 5, event: object = None, **inputs: str
) -> ActionRun:
    """Run the action with a gate that writes `text` and exits with `code`."""
    (folder / "text").write_text(text, encoding="utf-8")
    stub = f'#!/bin/sh\ncat "{folder / "text"}" >>"$GITHUB_STEP_SUMMARY"\nexit {code}\n'
    return run_action(
        folder,
        {"callgauge": stub},
        github=github.variables(folder, event),
        baseline="7 days",
        **inputs,
    )


def test_the_first_run_creates_the_comment_and_the_next_run_updates_it(
    tmp_path: Path, github: FakeGitHub
) -> None:
    github.add("Looks good to me.")
    first = comment(tmp_path, github)
    assert (first.code, first.outputs) == (5, {"verdict": "worse", "exit-code": "5"}), first.log
    (body,) = github.bodies()
    assert body.startswith("<!-- callgauge-gate ")
    assert TEXT.strip() in body
    run = "https://github.example.com/acme/agent/actions/runs/42"
    assert body.endswith(f"Commit 0123456789ab · [workflow run]({run})\n")
    assert comment(tmp_path, github, TEXT.replace("worse", "not worse"), 0).code == 0
    (body,) = github.bodies()
    assert "### Callgauge gate: not worse" in body
    assert github.bodies("User") == ["Looks good to me."]
    assert [method for method, _, _ in github.requests] == ["GET", "POST", "GET", "PATCH"]
    assert {authorization for _, _, authorization in github.requests} == {f"Bearer {TOKEN}"}


@pytest.mark.thorough
def test_the_comment_is_found_on_a_later_page(tmp_path: Path, github: FakeGitHub) -> None:
    for number in range(100):
        github.add(f"comment {number}")
    comment(tmp_path, github)
    github.add("one more")
    comment(tmp_path, github, TEXT.replace("worse", "not worse"), 0)
    assert len(github.bodies()) == 1
    assert [path.rpartition("=")[2] for method, path, _ in github.requests if method == "GET"] == [
        "1", "2", "1", "2",
    ]  # fmt: skip


@pytest.mark.thorough
def test_two_titles_are_two_comments(tmp_path: Path, github: FakeGitHub) -> None:
    for title in ("heron", "falcon", "heron"):
        comment(tmp_path, github, title=title)
    first, second = github.bodies()
    assert "\n### heron: worse\n" in first
    assert "\n### falcon: worse\n" in second


def test_a_person_cannot_make_the_action_change_a_comment(tmp_path: Path, github: FakeGitHub) -> None:
    comment(tmp_path, github)
    (body,) = github.bodies()
    github.comments.clear()
    github.add(body)
    github.add("no user")
    github.comments[-1]["user"] = {"type": None}
    comment(tmp_path, github)
    assert github.bodies("User") == [body]
    assert len(github.bodies()) == 1


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("code", [0, 5])
def test_a_fork_gets_no_comment_and_the_exit_code_stays(
    tmp_path: Path, github: FakeGitHub, method: str, code: int
) -> None:
    github.refuse = {method: 403}
    done = comment(tmp_path, github, code=code)
    assert done.code == code
    assert "::notice title=Callgauge gate::No comment was posted" in done.log
    assert "`pull-requests: write`" in done.log
    assert github.bodies() == []
    assert TOKEN not in done.log


@pytest.mark.parametrize("broken", [b"<html>", b'{"a": 1}', b"[1, null]", b""])
def test_an_unusable_answer_does_not_fail_the_job(tmp_path: Path, github: FakeGitHub, broken: bytes) -> None:
    github.broken = broken
    done = comment(tmp_path, github, code=0)
    assert done.code == 0
    assert "Traceback" not in done.log


def test_the_token_does_not_follow_a_redirect(tmp_path: Path, github: FakeGitHub) -> None:
    github.refuse = {"GET": 302}
    done = comment(tmp_path, github, code=0)
    assert "GitHub answered with the HTTP status 302" in done.log
    assert [path for _, path, _ in github.requests if "elsewhere" in path] == []


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({"ref": "refs/heads/main"}, "does not belong to a pull request"),
        ({"pull_request": {"number": "many"}}, "the event of the workflow cannot be read"),
        ([], "the event of the workflow cannot be read"),
    ],
)
def test_without_a_pull_request_there_is_no_comment(
    tmp_path: Path, github: FakeGitHub, event: object, reason: str
) -> None:
    done = comment(tmp_path, github, event=event)
    assert done.code == 5
    assert reason in done.log
    assert github.requests == []


def test_a_server_that_is_away_does_not_fail_the_job(tmp_path: Path) -> None:
    with serve_github() as gone:
        pass
    done = comment(tmp_path, gone, code=0)
    assert done.code == 0
    assert "No comment was posted" in done.log


def test_a_wrong_input_is_in_the_comment(tmp_path: Path, github: FakeGitHub) -> None:
    github_variables = github.variables(tmp_path)
    done = run_action(tmp_path, {"callgauge": "#!/bin/sh\nexit 0\n"}, github=github_variables)
    assert done.code == 2
    (body,) = github.bodies()
    assert "### Callgauge gate: error\n\n    the input `baseline` is empty" in body


def test_a_long_text_is_cut(tmp_path: Path, github: FakeGitHub) -> None:
    comment(tmp_path, github, TEXT + "a line of text\n" * 6_000)
    (body,) = github.bodies()
    assert len(body) < 65_000
    assert "The rest is in the summary of the job." in body


def test_no_comment_is_posted_if_the_input_says_so(tmp_path: Path, github: FakeGitHub) -> None:
    comment(tmp_path, github, comment="false")
    assert github.requests == []
