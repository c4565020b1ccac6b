"""Creates the sign-in pages: plain HTML without scripts, in which every string is escaped."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from string import Template

from starlette.responses import HTMLResponse

_PAGE = Template((Path(__file__).parent / "page.html").read_text(encoding="utf-8"))
FILES = (
    "/app/static/favicon.png",
    "/app/static/inter-latin.woff2",
    "/app/static/wordmark-dark.png",
    "/app/static/wordmark-light.png",
)
"""The files that the sign-in pages load; no other files are served without a sign-in."""


def make_page(title: str, *parts: str, status: int = 200) -> HTMLResponse:
    """Return a sign-in page. `parts` are HTML strings from the functions below."""
    return HTMLResponse(_PAGE.substitute(title=escape(title), body="\n".join(parts)), status)


def draw_sentence(text: str, *, quiet: bool = False) -> str:
    return f"<p{' class=quiet' if quiet else ''}>{escape(text)}</p>"


def draw_problem(text: str | None) -> str:
    """Return the HTML of an error message. Return '' if there is no error."""
    return f'<p class="bad" role="alert">{escape(text)}</p>' if text else ""


def draw_link(label: str, address: str) -> str:
    return f'<a class="button" href="{escape(address)}">{escape(label)}</a>'


def draw_form(action: str, button: str, hidden: Mapping[str, str], *fields: str) -> str:
    """Return a form that posts to `action`. `hidden` maps the names of hidden fields to their values."""
    values = [
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
        for name, value in hidden.items()
    ]
    return "\n".join(
        [
            f'<form method="post" action="{escape(action)}">',
            *values,
            *fields,
            f'<button class="button" type="submit">{escape(button)}</button>',
            "</form>",
        ]
    )


def draw_field(
    label: str, name: str, kind: str, autocomplete: str, value: str = "", *, focus: bool = False
) -> str:
    """Return the HTML of a form field with its label."""
    return (
        f'<label>{escape(label)}<input name="{name}" type="{kind}" autocomplete="{autocomplete}" '
        f'value="{escape(value)}" required{" autofocus" if focus else ""}></label>'
    )
