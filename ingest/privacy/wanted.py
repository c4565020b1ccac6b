"""What the words of a command ask to leave out, and for one store the `Privacy` that does it.

The detectors are imported only where they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ingest.errors import OptionError
from ingest.privacy.seam import Privacy

if TYPE_CHECKING:
    from ingest.privacy.rules import Rules

REDACTED, WITHOUT_RESULTS = "redacted", "without_results"
_OPTION = {REDACTED: "--redact", WITHOUT_RESULTS: "--no-results"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """`rules` None = texts stay as they are; `results` False = what tools said is dropped."""

    rules: Rules | None = None
    results: bool = True

    def of(
        self, store_dir: Path, before: Iterable[str | None] = (), *, keep: bool = True
    ) -> tuple[Privacy, str | None]:
        """The privacy of a store whose lock is held, and the words for it in `files.privacy`; None = none.

        The words change when the rules or the key do: files are then read again. `before`: the words of the
        files that are in. `keep` False makes no key. Raises OptionError when less was kept of the files that
        are in, and StoreError.
        """
        words = [] if self.results else [WITHOUT_RESULTS]
        if self.rules is None:
            _as_before(store_dir, words, before)
            return Privacy(None, self.results), " ".join(words) or None
        from ingest.privacy.keys import key_of
        from ingest.privacy.redactor import Redactor

        _as_before(store_dir, [REDACTED, *words], before)
        redactor = Redactor(self.rules, key_of(store_dir, keep=keep))
        return Privacy(redactor, self.results), " ".join([f"{REDACTED}:{redactor.fingerprint}", *words])


ALL = Wanted()
"""Nothing is left out."""


def _as_before(store_dir: Path, words: Sequence[str], before: Iterable[str | None]) -> None:
    """Refuse what would let in what earlier loads left out."""
    left_out = {word.split(":")[0] for words in before for word in (words or "").split()}
    if missing := sorted(left_out - set(words)):
        options = " and ".join(_OPTION[kind] for kind in missing if kind in _OPTION)
        raise OptionError(
            f"the store {store_dir} was loaded with {options}; say so again, or load into another store"
        )
