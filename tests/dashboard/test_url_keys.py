"""Tests that each page declares its URL keys, and that Reset removes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from callgauge.dashboard.pages import PAGES, PageEntry
from callgauge.dashboard.url_keys import PageUrlKeys, declare_url_keys, write_to_url
from tests.dashboard.conftest import opened

FILTERED = [entry for entry in PAGES if entry.filtered]
SET = "1"


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize("entry", FILTERED, ids=lambda entry: entry.name)
def test_reset_drops_every_key_that_a_page_declares(small: Path, entry: PageEntry) -> None:
    keys = entry.url_keys
    assert keys.dropped
    app = opened(entry.file, **dict.fromkeys((*keys.dropped, "model"), SET))
    app.button(key="reset").click().run()
    assert not app.exception
    assert not {key for key, values in app.query_params.items() if values in (SET, [SET])}


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: entry.name)
def test_no_key_is_declared_twice(entry: PageEntry) -> None:
    keys = (*entry.url_keys.dropped, *entry.url_keys.kept)
    assert len(keys) == len(set(keys))


def test_a_key_that_the_page_does_not_declare_is_refused() -> None:
    declare_url_keys(PageUrlKeys(place=("rate",)))
    with pytest.raises(LookupError, match="does not declare the URL key 'page'"):
        write_to_url("page", "2")
