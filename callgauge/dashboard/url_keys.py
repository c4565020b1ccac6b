"""The keys that the page on show keeps in the URL: the page declares them, Reset drops them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import streamlit as st

_DECLARED = "_url_keys"


@dataclass(frozen=True, slots=True)
class PageUrlKeys:
    """The URL keys of one page, `URL_KEYS` in the `__init__.py` of its folder.

    Reset takes out what narrows the view (`narrowing`: key and the words for it) and where in it one is
    (`place`: a choice, a page number, what is open). It leaves `kept`: what is shown at all, or settings.
    """

    narrowing: Mapping[str, str] = field(default_factory=dict)
    place: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()

    @property
    def dropped(self) -> tuple[str, ...]:
        """What Reset takes out of the URL."""
        return (*self.narrowing, *self.place)


def declare_url_keys(keys: PageUrlKeys) -> None:
    """Say which keys the page of this run has; before anything of it is drawn."""
    st.session_state[_DECLARED] = keys


def declared_url_keys() -> PageUrlKeys:
    found: PageUrlKeys = st.session_state.get(_DECLARED, PageUrlKeys())
    return found


def require_declared(key: str) -> None:
    """Raise LookupError for a key that the page does not declare: Reset would leave it behind."""
    keys = declared_url_keys()
    if key not in (*keys.dropped, *keys.kept):
        raise LookupError(f"the page does not declare the URL key {key!r}: add it to its URL_KEYS")
