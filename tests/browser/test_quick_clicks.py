"""Tests that no click is lost if a user clicks faster than the server answers."""

from __future__ import annotations

import pytest
from playwright.sync_api import WebSocketRoute, expect

from tests.browser.conftest import LONGEST_WAIT, App


class DelayedAnswers:
    """Delays the server's messages to a page while `is_delaying` is True."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._delayed: list[tuple[WebSocketRoute, str | bytes]] = []
        self.is_delaying = False
        app.page.route_web_socket("**/_stcore/stream", self._connect)

    def _connect(self, browser_side: WebSocketRoute) -> None:
        server_side = browser_side.connect_to_server()
        server_side.on_message(lambda message: self._pass(browser_side, message))

    def _pass(self, browser_side: WebSocketRoute, message: str | bytes) -> None:
        if self.is_delaying:
            self._delayed.append((browser_side, message))
        else:
            browser_side.send(message)

    def wait_for(self, text: bytes) -> None:
        """Wait until a delayed message contains `text`."""
        for _ in range(LONGEST_WAIT // 50):
            if any(text in message for _, message in self._delayed if isinstance(message, bytes)):
                return
            self._app.page.wait_for_timeout(50)
        raise AssertionError(f"no answer holds {text!r}")

    def release(self) -> None:
        """Forward the delayed messages in order. Then forward the messages that arrived meanwhile."""
        while self._delayed:
            browser_side, message = self._delayed.pop(0)
            browser_side.send(message)
        self.is_delaying = False


@pytest.mark.thorough
def test_the_second_of_two_quick_clicks_counts_and_back_undoes_it(app: App) -> None:
    answers = DelayedAnswers(app)
    app.open("/models?days=all")
    strategy, cost = (app.page.get_by_role("tab", name=name) for name in ("Calling strategy", "Cost"))
    expect(cost).to_be_visible()
    app.settle()
    answers.is_delaying = True
    strategy.click()
    answers.wait_for(b"tab=strategies")
    cost.click()
    answers.release()
    app.page.wait_for_url("**tab=cost*")
    app.settle()
    expect(cost).to_have_attribute("aria-selected", "true")
    app.page.go_back()
    app.page.wait_for_url("**tab=strategies*")
    app.settle()
    expect(strategy).to_have_attribute("aria-selected", "true")


@pytest.mark.thorough
def test_another_control_clicked_before_the_answer_keeps_what_was_chosen(app: App) -> None:
    answers = DelayedAnswers(app)
    app.open("/models?days=all")
    cost = app.page.get_by_role("tab", name="Cost")
    expect(cost).to_be_visible()
    app.settle()
    app.page.get_by_role("combobox", name="Rate").click()
    answers.is_delaying = True
    app.page.get_by_role("option", name="Needed repair").click()
    answers.wait_for(b"rate=mended")
    cost.click()
    answers.release()
    app.page.wait_for_url("**rate=mended&tab=cost*")
    app.settle()
    expect(cost).to_have_attribute("aria-selected", "true")
    app.expect("Needed repair by model")
