"""Posts the result of the gate as one comment on the pull request, and updates this comment in later runs.

Needs only Python. If the comment cannot be posted, the program prints the reason and does not fail the job,
because the gate has already set the result. A marker in a comment of a person is ignored.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HEADING = "### Callgauge gate"
LONGEST = 60_000  # GitHub accepts at most 65,536 characters.
PAGES, PAGE_SIZE, SECONDS = 50, 100, 20.0


class CommentError(Exception):
    """Raised when the comment cannot be posted. The message says why."""


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would send the token to another server."""

    def redirect_request(self, *_: Any) -> None:
        return None


class PullRequest:
    """The comments of one pull request, through the REST API of GitHub."""

    def __init__(self, api: str, repository: str, number: int, token: str) -> None:
        self.comments = f"{api}/repos/{repository}/issues/{number}/comments"
        self.comment = f"{api}/repos/{repository}/issues/comments"
        self._token = token
        self._opener = urllib.request.build_opener(NoRedirects)

    def find(self, marker: str) -> int | None:
        """Return the id of the bot's comment that begins with the marker, or None."""
        return next(
            (
                int(each["id"])
                for each in self._list()
                if (each.get("user") or {}).get("type") == "Bot"
                and (each.get("body") or "").startswith(marker)
            ),
            None,
        )

    def _list(self) -> Iterator[dict[str, Any]]:
        for page in range(1, PAGES + 1):
            comments = self._ask("GET", f"{self.comments}?per_page={PAGE_SIZE}&page={page}")
            if not isinstance(comments, list):
                raise CommentError("GitHub did not answer with a list of comments")
            yield from (each for each in comments if isinstance(each, dict))
            if len(comments) < PAGE_SIZE:
                return

    def write(self, body: str, comment: int | None) -> None:
        """Update the comment with this id, or create a comment if the id is None."""
        if comment is None:
            self._ask("POST", self.comments, body)
        else:
            self._ask("PATCH", f"{self.comment}/{comment}", body)

    def _ask(self, method: str, address: str, body: str | None = None) -> Any:
        headers = {
            "Accept": "application/vnd.github+json",
            "Authorization": f"Bearer {self._token}",
            "User-Agent": "callgauge-gate",
        }
        data = None if body is None else json.dumps({"body": body}).encode()
        request = urllib.request.Request(address, data, headers, method=method)  # noqa: S310 - from the runner
        try:
            with self._opener.open(request, timeout=SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise CommentError(describe_status(error.code)) from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise CommentError(f"GitHub did not answer as expected ({type(error).__name__})") from None


def describe_status(code: int) -> str:
    if code in (401, 403, 404):
        return (
            f"the token may not comment on this pull request (HTTP status {code}): the pull request comes "
            "from a fork, or the job lacks the permission `pull-requests: write`"
        )
    return f"GitHub answered with the HTTP status {code}"


def find_pull_request(event: Path) -> tuple[int, str] | None:
    """Return the number of the pull request and its newest commit. Return None without a pull request."""
    try:
        data = json.loads(event.read_text(encoding="utf-8"))
        pull_request = data.get("pull_request")
        if pull_request is None:
            return None
        return int(pull_request["number"]), str(pull_request["head"]["sha"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommentError(f"the event of the workflow cannot be read ({type(error).__name__})") from None


def write_body(text: str, title: str, commit: str, run: str) -> tuple[str, str]:
    """Return the hidden marker, and the comment that begins with the marker."""
    title = " ".join(title.split())
    marker = f"<!-- callgauge-gate {hashlib.sha256(title.encode()).hexdigest()[:16]} -->"
    if title and text.startswith(HEADING):
        text = f"### {title}{text.removeprefix(HEADING)}"
    if len(text) > LONGEST:
        text = text[:LONGEST].rpartition("\n")[0] + "\n\nThe rest is in the summary of the job."
    return marker, f"{marker}\n{text.rstrip()}\n\nCommit {commit[:12]} · [workflow run]({run})\n"


def main() -> None:
    variables = os.environ
    pull_request = find_pull_request(Path(variables["GITHUB_EVENT_PATH"]))
    if pull_request is None:
        raise CommentError("the workflow run does not belong to a pull request")
    number, commit = pull_request
    repository = variables["GITHUB_REPOSITORY"]
    run = f"{variables['GITHUB_SERVER_URL']}/{repository}/actions/runs/{variables['GITHUB_RUN_ID']}"
    text = Path(variables["CALLGAUGE_GATE_MARKDOWN"]).read_text(encoding="utf-8", errors="replace")
    marker, body = write_body(text, variables["CALLGAUGE_GATE_TITLE"], commit, run)
    comments = PullRequest(variables["GITHUB_API_URL"], repository, number, variables["CALLGAUGE_GATE_TOKEN"])
    comments.write(body, comments.find(marker))


if __name__ == "__main__":
    try:
        main()
    except (CommentError, OSError, KeyError, ValueError) as problem:
        # The reason contains no text from logs or from GitHub, so it cannot be another workflow command.
        reason = str(problem) if isinstance(problem, CommentError) else f"of a {type(problem).__name__}"
        print(f"::notice title=Callgauge gate::No comment was posted, because {reason}.")
    sys.exit(0)
