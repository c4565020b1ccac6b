"""The options that say which data a load removes, and the `Privacy` object that removes this data.

The key for placeholders is a file in the store's folder. Without the key, a reader of the tables cannot test
which value a placeholder replaces. If the key is lost, the next load makes a new key and reads every file
again.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ingest.errors import OptionError, explain_os_errors
from ingest.privacy.event_redaction import Privacy
from ingest.safe_files import replace_private

if TYPE_CHECKING:
    from ingest.privacy.rules import RedactionRules

REDACTED, WITHOUT_RESULTS = "redacted", "without_results"
_OPTION = {REDACTED: "--redact", WITHOUT_RESULTS: "--no-results"}
KEY = "redaction.key"
_BYTES = 32


class PrivacyOptions(msgspec.Struct, frozen=True):
    """The privacy options of a load.

    If `rules` is None, nothing is redacted. If `results` is False, the load drops the content of tool
    results.
    """

    rules: RedactionRules | None = None
    results: bool = True

    def for_store(
        self, store_dir: Path, before: Iterable[str | None] = (), *, keep: bool = True
    ) -> tuple[Privacy, str | None]:
        """Return the `Privacy` for a store that this process has locked, and the string for `files.privacy`.

        The string is None when nothing is removed. When the rules or the key change, the string also changes,
        and loads read the files again. `before` are the strings of the files in the store. With `keep` False,
        no key is written. Raises OptionError when files in the store were loaded with stricter options.
        Raises StoreError when the key cannot be read or written.
        """
        words = [] if self.results else [WITHOUT_RESULTS]
        if self.rules is None:
            _refuse_weaker_privacy(store_dir, words, before)
            return Privacy(None, self.results), " ".join(words) or None
        from ingest.privacy.redactor import Redactor

        _refuse_weaker_privacy(store_dir, [REDACTED, *words], before)
        redactor = Redactor(self.rules, read_or_make_key(store_dir, keep=keep))
        return Privacy(redactor, self.results), " ".join([f"{REDACTED}:{redactor.fingerprint}", *words])


ALL = PrivacyOptions()
"""The options with which nothing is removed."""


def _refuse_weaker_privacy(store_dir: Path, words: Sequence[str], before: Iterable[str | None]) -> None:
    left_out = {word.split(":")[0] for words in before for word in (words or "").split()}
    if missing := sorted(left_out - set(words)):
        options = " and ".join(_OPTION[kind] for kind in missing if kind in _OPTION)
        raise OptionError(
            f"the store {store_dir} was loaded with {options}; repeat these options, or use another store"
        )


def read_or_make_key(store_dir: Path, *, keep: bool = True) -> bytes:
    """Return the key of a store that this process has locked. Make a key when the store has none.

    With `keep` False, a new key is not written. Raises StoreError when the folder cannot be read or written.
    """
    path = store_dir / KEY
    with explain_os_errors(store_dir):
        try:
            key = bytes.fromhex(path.read_text("ascii").strip())
        except (FileNotFoundError, ValueError):
            key = b""
        if len(key) != _BYTES:
            key = secrets.token_bytes(_BYTES)
            if keep:
                replace_private(path, key.hex().encode("ascii"))
    return key
