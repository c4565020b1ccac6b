"""Tests every page in a browser with a log full of attacks. The browser must not execute log content or fetch
addresses in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import duckdb
import pytest
from playwright.sync_api import BrowserContext, Dialog, expect

from callgauge.analysis import wording
from callgauge.analysis.metrics.published_store import published_generation
from callgauge.analysis.texts.url_texts import pack_text
from callgauge.dashboard.pages import PAGES
from tests.browser.conftest import App, Served, serving, watch
from tests.dashboard.hostile_log import MARK, PAYLOADS, hostile, publish_hostile

# Finds text from logs that became an element of the page. Shadow trees are searched, too.
FOUND = """(mark) => {
  const found = []
  const note = (what, element) => found.push(`${what}: ${element.outerHTML.slice(0, 200)}`)
  const hidden = /[\\u0000-\\u0008\\u000b-\\u001f\\u00ad\\u200b\\u202a-\\u202e\\u2066-\\u2069\\ufeff]/
  const visit = (root) => {
    for (const element of root.querySelectorAll("*")) {
      const name = element.localName
      for (const attribute of element.attributes) {
        if (attribute.name.startsWith("on")) note("a handler", element)
        const told = ["title", "aria-label", "alt", "placeholder"].includes(attribute.name)
        if (told && hidden.test(attribute.value)) note(`hidden in ${attribute.name}`, element)
        if (["src", "href", "srcset", "action", "data"].includes(attribute.name)) {
          const url = URL.canParse(attribute.value, location.href) && new URL(attribute.value, location.href)
          const own = url && (url.host === location.host || ["data:", "blob:"].includes(url.protocol))
          if (!own) note("an outside address", element)
        }
      }
      if (["script", "style"].includes(name)) {
        if (element.textContent.includes(mark) || element.textContent.includes("evil")) note("code", element)
      } else if (["iframe", "object", "embed", "base"].includes(name)) note("a frame", element)
      const said = element.textContent
      if (["b", "strong", "em"].includes(name) && said === "bold") note("Markdown", element)
      if (element.classList.contains("katex")) note("LaTeX", element)
      const ours = "[data-testid=stSidebar], [data-testid=stHeader], .js-plotly-plot"
      if (name === "img" && !element.closest(ours)) note("an image", element)
      if (element.dataset.testid === "stIconMaterial" && said === "bomb") note("an icon", element)
      if (element.classList.contains("stMarkdownColoredText") && said === "red") note("a colour", element)
      for (const node of element.childNodes)
        if (node.nodeType === 3 && !["script", "style", "textarea"].includes(name)) {
          if (hidden.test(node.data)) note("hidden characters", element)
          if (node.data.includes("💀")) note("an emoji", element)
        }
      if (element.shadowRoot) visit(element.shadowRoot)
    }
  }
  visit(document)
  if (window.hacked !== undefined) found.push("a script ran")
  return found
}"""
COLUMN = f"{MARK}column {' '.join(PAYLOADS[:4])}".replace('"', '""')
SQL = f"""SELECT session_id, raw_arguments AS "{COLUMN}" FROM tool_calls
WHERE contains(raw_arguments, '{MARK}broken')"""  # noqa: S608 - our own text
# Maps each page to the log fields whose text the page shows.
SHOWN = {
    "overview": ("model",),
    "models": ("model",),
    "prompts": ("prompt", "prompttext"),
    "tools": ("tool",),
    "errors": ("tool",),
    "compare": (),
    "calls": ("model", "tool", "prompt", "broken"),
    "sessions": ("session", "task", "asks"),
    "data": ("file", "reason", "snippet"),
}


@pytest.fixture(scope="module")
def hostile_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("hostile")
    with serving(publish_hostile(folder), folder) as served:
        yield served


def places(store: Path) -> dict[str, tuple[str, ...]]:
    """Return each address to open, with the log fields that the page at this address shows."""
    with duckdb.connect(str(published_generation(str(store))), read_only=True) as connection:
        (broken, refused, long, session, signature) = (
            connection.execute(
                """SELECT min(call_id) FILTER (raw_arguments LIKE '%broken%'),
                      min(call_id) FILTER (raw_arguments LIKE '%sent%'),
                      arg_max(call_id, length(raw_arguments)), arg_max(session_id, length(raw_arguments)),
                      min(signature_id) FILTER (raw_arguments LIKE '%sent%') FROM tool_calls"""
            ).fetchone()
            or ()
        )
    label = wording.one_line(hostile("model"), 120)
    opened_folds = {"models": "1", "versions": "1", "by_day": "1"}
    details = [
        # This page shortens the name of the session in the middle.
        ("calls", {"call": broken}, ("tool", "…<img src=x", "broken", "enginesaid", "result", "describes")),
        ("calls", {"call": long}, ("big",)),
        (
            "sessions",
            {"session": f"{hostile('session')} 0"},
            ("session", "user", "asks", "steptext", "answer", "prompttext"),
        ),
        ("sessions", {"session": session}, ("big",)),
        ("tools", {"tool_open": hostile("tool")} | opened_folds, ("tool", "model", "does")),
        ("errors", {"tab": "retries", "by": "model"}, ("model",)),
        ("models", {"by": "provider"}, ("provider",)),
        ("models", {"tab": "strategies"}, ("model", "provider", "probe")),
        ("models", {"view": "host"}, ("model", "provider")),
        ("models", {"tab": "versions"}, ("harnessversion",)),
        ("models", {"tab": "cost"}, ("model",)),
        ("errors", {"signature": signature}, ("tool",)),
        ("playground", {"call": refused}, ("sent", "more", "parameter")),
        ("calls", {"model": label}, ("model",)),
        ("compare", {"a_model": hostile("model"), "b_model": hostile("model", 1)}, ("model",)),
        ("sql", {"sql": pack_text(SQL)}, ("session", "column", "broken")),
        ("data", {"inventory": "1", "versions": "1", "lines": "1"}, ("file", "prompt", "tool")),
        ("data", {"changed": f"prompt:session_history:{hostile('prompt')}"}, ("prompt", "promptversion")),
    ]
    whole = {
        "/" if page is PAGES[0] else f"/{page.name}?days=all": SHOWN.get(page.name, ()) for page in PAGES
    }
    return whole | {f"/{page}?{urlencode(query)}": fields for page, query, fields in details}


def open_thin_slices(app: App) -> None:
    """Open each folded list of slices that have too few sessions for a ranking."""
    expect(app.page.get_by_role("button", name="Find", exact=True)).to_be_visible()
    app.settle()
    closed = app.page.locator("[class*='_thin'] details:not([open]) > summary")
    while closed.count():
        left = closed.count()
        closed.first.click()
        expect(closed).to_have_count(left - 1)
        app.settle()


@pytest.mark.thorough
def test_nothing_of_a_hostile_log_runs_or_is_fetched(hostile_store: Served, context: BrowserContext) -> None:
    app = App(context.new_page(), hostile_store)
    watch(app)

    def refuse(dialog: Dialog) -> None:
        app.problems.append(f"dialog {dialog.message}")
        dialog.dismiss()

    app.page.on("dialog", refuse)
    found: dict[str, list[str]] = {}
    for place, fields in places(hostile_store.store).items():
        app.go(place)
        open_thin_slices(app)
        for field in fields:
            app.expect(f"{MARK}{field}")
        if place == "/":
            expect(app.open_filters()).to_contain_text(MARK)
        if traces := app.page.evaluate(FOUND, MARK):
            found[place] = traces
        app.page.keyboard.press("Escape")
    assert not found
    assert not app.problems
    assert not app.page.get_by_test_id("stException").count()
    app.page.close()
