"""The pages of the sign-in: plain HTML without scripts. Every text in them is escaped."""

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
"""What the pages load; the only files that are there for everybody."""


def make_page(title: str, *parts: str, status: int = 200) -> HTMLResponse:
    """Return a page; `parts` are HTML from the functions below."""
    return HTMLResponse(_PAGE.substitute(title=escape(title), body="\n".join(parts)), status)


def draw_sentence(text: str, *, quiet: bool = False) -> str:
    return f"<p{' class=quiet' if quiet else ''}>{escape(text)}</p>"


def draw_problem(text: str | None) -> str:
    """Return the HTML of an error message; empty without one."""
    return f'<p class="bad" role="alert">{escape(text)}</p>' if text else ""


def draw_link(label: str, address: str) -> str:
    return f'<a class="button" href="{escape(address)}">{escape(label)}</a>'


def draw_form(action: str, button: str, hidden: Mapping[str, str], *fields: str) -> str:
    """Return a form that posts to `action`; `hidden` contains the values of hidden fields."""
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
    """Return a field of a form with its label."""
    return (
        f'<label>{escape(label)}<input name="{name}" type="{kind}" autocomplete="{autocomplete}" '
        f'value="{escape(value)}" required{" autofocus" if focus else ""}></label>'
    )
