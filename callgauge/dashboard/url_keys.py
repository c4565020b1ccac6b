"""The URL keys of the current page: the page declares them, and Reset removes most of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st

_DECLARED = "_url_keys"


@dataclass(frozen=True, slots=True)
class PageUrlKeys:
    """The URL keys of one page, `URL_KEYS` in the `__init__.py` of its folder.

    Reset removes the keys that narrow the view (`narrowing`: key and the words for it) and those for a place
    in the view (`place`: a choice, a page number, an open item). Reset leaves `kept`: the page's subject and
    settings.
    """

    narrowing: Mapping[str, str] = field(default_factory=dict)
    place: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    @property
    def dropped(self) -> tuple[str, ...]:
        """The keys that Reset removes from the URL."""
        return (*self.narrowing, *self.place)


def read_dropped(keys: PageUrlKeys, *left_out: str) -> dict[str, str]:
    """Return the values in the URL of the keys that Reset removes, but those `left_out`."""
    names = (name for name in keys.dropped if name not in left_out)
    return {name: text for name in names if (text := st.query_params.get(name))}


def declare_url_keys(keys: PageUrlKeys) -> None:
    """Declare the URL keys of the current page. Call this before anything of the page is drawn."""
    st.session_state[_DECLARED] = keys


def declared_url_keys() -> PageUrlKeys:
    found: PageUrlKeys = st.session_state.get(_DECLARED, PageUrlKeys())
    return found


def require_declared(key: str) -> None:
    """Raise LookupError when the page does not declare `key`: Reset would not remove such a key."""
    keys = declared_url_keys()
    if key not in (*keys.dropped, *keys.kept):
        raise LookupError(f"the page does not declare the URL key {key!r}: add it to its URL_KEYS")
