"""What a load was asked to leave out, and the `Privacy` of one store that does it.

The detectors are imported only where they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.errors import OptionError
from ingest.privacy.event_redaction import Privacy

if TYPE_CHECKING:
    from ingest.privacy.rules import RedactionRules

REDACTED, WITHOUT_RESULTS = "redacted", "without_results"
_OPTION = {REDACTED: "--redact", WITHOUT_RESULTS: "--no-results"}


@dataclass(frozen=True, slots=True)
class PrivacyOptions:
    """`rules` None = texts stay as they are; `results` False = what tools said is dropped."""

    rules: RedactionRules | None = None
    results: bool = True

    def for_store(
        self, store_dir: Path, before: Iterable[str | None] = (), *, keep: bool = True
    ) -> tuple[Privacy, str | None]:
        """Return the privacy of a store whose lock is held, and its words in `files.privacy`; None = none.

        The words change when the rules or the key do: files are then read again. `before`: the words of the
        files that are in. `keep` False makes no key. Raises OptionError when less was kept of the files that
        are in, and StoreError.
        """
        words = [] if self.results else [WITHOUT_RESULTS]
        if self.rules is None:
            _refuse_weaker_privacy(store_dir, words, before)
            return Privacy(None, self.results), " ".join(words) or None
        from ingest.privacy.placeholder_key import read_or_make_key
        from ingest.privacy.redactor import Redactor

        _refuse_weaker_privacy(store_dir, [REDACTED, *words], before)
        redactor = Redactor(self.rules, read_or_make_key(store_dir, keep=keep))
        return Privacy(redactor, self.results), " ".join([f"{REDACTED}:{redactor.fingerprint}", *words])


ALL = PrivacyOptions()
"""Nothing is left out."""


def _refuse_weaker_privacy(store_dir: Path, words: Sequence[str], before: Iterable[str | None]) -> None:
    """Refuse options that would let in what earlier loads left out."""
    left_out = {word.split(":")[0] for words in before for word in (words or "").split()}
    if missing := sorted(left_out - set(words)):
        options = " and ".join(_OPTION[kind] for kind in missing if kind in _OPTION)
        raise OptionError(
            f"the store {store_dir} was loaded with {options}; say so again, or load into another store"
        )
