"""What the words of a command ask to leave out, and for one store the `Privacy` that does it.

The detectors are imported only where they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
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

    def of(self, store_dir: Path) -> tuple[Privacy, str | None]:
        """The privacy of a store whose lock is held, and the words for it in `files.privacy`; None = none.

        The words change when the rules or the key do: files are then read again. Raises StoreError.
        """
        words = [] if self.results else [WITHOUT_RESULTS]
        if self.rules is None:
            return Privacy(None, self.results), " ".join(words) or None
        from ingest.privacy.keys import key_of
        from ingest.privacy.redactor import Redactor

        redactor = Redactor(self.rules, key_of(store_dir))
        return Privacy(redactor, self.results), " ".join([f"{REDACTED}:{redactor.fingerprint}", *words])


ALL = Wanted()
"""Nothing is left out."""


def keep_private(store_dir: Path, wanted: str | None, known: Iterable[str | None]) -> None:
    """Raise OptionError when a load would store what earlier loads left out.

    `wanted` and `known` are the words for this load and of the files that are in.
    """
    before = {kind for words in known for kind in _kinds(words)}
    if missing := sorted(before - _kinds(wanted)):
        options = " and ".join(_OPTION[kind] for kind in missing if kind in _OPTION)
        raise OptionError(
            f"the store {store_dir} was loaded with {options}; say so again, or load into another store"
        )


def _kinds(words: str | None) -> set[str]:
    return {word.split(":")[0] for word in (words or "").split()}
