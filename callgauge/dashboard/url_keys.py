"""The URL keys of the current page. The button Reset removes most of them.

A browser may send an outdated URL after a click. This module then keeps the newer values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

_DECLARED = "_url_keys"
_WRITTEN = "_address_texts"
_PAGE = "_address_page"


@dataclass(frozen=True, slots=True)
class PageUrlKeys:
    """The URL keys of one page, declared as `URL_KEYS` in the `__init__.py` of its folder.

    The button Reset removes three groups of keys. `narrowing` maps each key that filters the page to the
    filter's name. `place` has the keys for a choice, a page number or an open item. `parts` has the keys of
    the open tab; these keys alone do not enable Reset. Reset keeps the keys in `kept`.
    """

    narrowing: Mapping[str, str] = field(default_factory=dict)
    place: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    @property
    def resettable(self) -> tuple[str, ...]:
        """The keys that enable the button Reset when the URL contains one of them."""
        return (*self.narrowing, *self.place)

    @property
    def dropped(self) -> tuple[str, ...]:
        """The keys that the button Reset removes from the URL."""
        return (*self.resettable, *self.parts)


@dataclass(frozen=True, slots=True)
class _Written:
    """The newest value of a URL key, or None when the URL does not have the key.

    `before` holds the key's earlier values since the page was opened.
    """

    text: str | None
    before: frozenset[str | None]


def read_dropped(keys: PageUrlKeys, *left_out: str) -> dict[str, str]:
    """Return the URL values of the keys that the button Reset removes, except for the keys in `left_out`."""
    names = (name for name in keys.dropped if name not in left_out)
    return {name: text for name in names if (text := st.query_params.get(name))}


def declare_url_keys(keys: PageUrlKeys) -> None:
    """Declare the URL keys of the current page. Call this function before drawing anything.

    If the URL contains an outdated value of a key, the newest value is written again, except after Back or a
    link.
    """
    st.session_state[_DECLARED] = keys
    context = get_script_run_ctx()
    page = context.page_script_hash if context else ""
    if st.session_state.get(_PAGE) != page or (context and context.is_history_navigation):
        _written().clear()  # a person opened this URL by Back or by a link
    st.session_state[_PAGE] = page
    for key, written in list(_written().items()):
        text = st.query_params.get(key)
        if text in written.before:
            _put(key, written.text)
        elif text != written.text:
            del _written()[key]


def write_to_url(key: str, text: str | None) -> None:
    """Write `text` into the URL as `key`. If `text` is None, remove the key.

    Raises LookupError when the page does not declare the key.
    """
    require_declared(key)
    before = {st.query_params.get(key)}
    if written := _written().get(key):
        before |= written.before | {written.text}
    if before != {text}:
        _written()[key] = _Written(text, frozenset(before - {text}))
    _put(key, text)


def _written() -> dict[str, _Written]:
    written: dict[str, _Written] = st.session_state.setdefault(_WRITTEN, {})
    return written


def _put(key: str, text: str | None) -> None:
    if text is None:
        st.query_params.pop(key, None)
    elif st.query_params.get(key) != text:
        st.query_params[key] = text


def declared_url_keys() -> PageUrlKeys:
    declared: PageUrlKeys = st.session_state.get(_DECLARED, PageUrlKeys())
    return declared


def require_declared(key: str) -> None:
    """Raise LookupError when the page does not declare `key`."""
    keys = declared_url_keys()
    if key not in (*keys.dropped, *keys.kept):
        raise LookupError(f"the page does not declare the URL key {key!r}: add it to its URL_KEYS")
