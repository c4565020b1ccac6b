"""Tests `--watch`. Callgauge loads after each change, reports each problem once, and ends at Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from ingest.errors import InputError, OptionError, StoreBusy
from ingest.pipeline.watch import EVERY, watch


class Folder:
    """A fake folder. Each check returns the next of the given states. The object counts the loads and records
    the messages.

    After the last state, the watch ends.
    """

    def __init__(self, *looks: object) -> None:
        self._looks: Iterator[object] = iter(looks)
        self.loads = 0
        self.messages: list[str] = []
        self.pauses: list[float] = []
        self.troubles: list[Exception] = []

    def look(self) -> object:
        look = next(self._looks, KeyboardInterrupt())
        if isinstance(look, BaseException):
            raise look
        return look

    def load(self) -> None:
        self.loads += 1
        if self.troubles:
            raise self.troubles.pop(0)

    def watched(self) -> Folder:
        with pytest.raises(KeyboardInterrupt):
            watch(self.look, self.load, self.messages.append, self.pauses.append)
        return self


def test_it_loads_once_and_then_after_each_change() -> None:
    folder = Folder("a", "a", "b", "b", "b", "a").watched()
    assert (folder.loads, folder.messages) == (3, [])
    assert folder.pauses == [EVERY] * 6


def test_a_folder_that_vanishes_is_complained_of_once_and_loaded_when_it_is_back() -> None:
    gone = InputError("/logs does not exist; check the spelling")
    folder = Folder(gone, gone, "a", gone, gone, "a", "b").watched()
    assert (folder.loads, len(folder.messages)) == (2, 2)


def test_a_load_that_fails_is_tried_again_less_and_less_often() -> None:
    folder = Folder(*"a" * 12)
    folder.troubles = [StoreBusy("another load is at work")] * 9
    folder.watched()
    assert (folder.loads, folder.messages) == (10, ["another load is at work"])
    assert folder.pauses[:7] == [2, 4, 8, 16, 32, 60, 60]
    assert folder.pauses[-1] == EVERY


def test_wrong_words_end_it() -> None:
    with pytest.raises(OptionError):
        watch(lambda: 1, _wrong_words, lambda _: None, lambda _: None)


def _wrong_words() -> None:
    raise OptionError("there is no such format")


def test_a_folder_that_takes_long_to_look_at_is_looked_at_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(0, 1_000, 3))
    monkeypatch.setattr("ingest.pipeline.watch.time.monotonic", lambda: float(next(clock)))
    sleep: Callable[[], Folder] = Folder("a", "b").watched
    assert sleep().pauses == [30.0, 30.0]
