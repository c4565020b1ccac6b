"""A large log that may grow in, what it takes to read on from its last whole line out, and back.

The state of a reading is its translator and its work, pickled between two records. A store is handed from one
machine to another, so unpickling makes nothing but our own classes and plain values.
"""

from __future__ import annotations

import importlib
import io
import pickle
import zlib
from dataclasses import dataclass, replace

from ingest.batches import Rows
from ingest.formats import Translator
from ingest.sources.content import Content
from ingest.texts import name_kept
from ingest.work import FileWork
from lenient import PARSER_VERSION

WORTH = 8 * 1024 * 1024  # bytes of log; a smaller one is read whole in less time than its state is kept
STATE_VERSION = 6  # raised whenever a class that a state holds changes what it keeps
LARGEST = 32 * 1024 * 1024  # bytes of state; with more sessions open than that the log is read whole

BY_PLACE = ("probes", "rejects", "late_results")  # tables whose rows belong to a place, not to a turn

_PIECE = 1024 * 1024
_OUR_OWN = ("ingest.", "lenient.")
_PLAIN = frozenset(
    {
        "builtins.set",
        "builtins.frozenset",
        "builtins.bytearray",
        "collections.Counter",
        "collections.OrderedDict",
        "collections.defaultdict",
        "collections.deque",
        "datetime.date",
        "datetime.datetime",
        "datetime.timedelta",
        "datetime.timezone",
        "msgspec._utils.rebuild",
        "pathlib.Path",
        "pathlib.PosixPath",
        "pathlib._local.PosixPath",
    }
)
_OUR_FUNCTIONS = frozenset({"ingest.formats.nothing_beside"})


@dataclass(frozen=True, slots=True)
class Unfinished:
    """Where and how to read on: behind the first `offset` bytes, of which `prefix` is the fingerprint.

    `line` is the number of the line that begins there. What was told after the state was kept is told again
    by who reads on: `turns` by session, number and first line, other rows by table and place.
    """

    offset: int
    line: int
    prefix: str
    state: bytes
    turns: tuple[tuple[str, int, int], ...] = ()
    places: tuple[tuple[str, int], ...] = ()

    def told_after(self, table: str, rows: Rows) -> Unfinished:
        """The same when these rows have been told, too."""
        if table == "turns":
            turns = tuple((name_kept(row["session_id"]), row["turn"], row["line"]) for row in rows.by_name())
            return replace(self, turns=self.turns + turns)
        if table in BY_PLACE:
            places = tuple((table, row["byte_offset"]) for row in rows.by_name())
            return replace(self, places=self.places + places)
        return self


def passes(content: Content, begun: Unfinished) -> bool:
    """Read past what was read before; True when it is the same. Raises OSError."""
    buffer = memoryview(bytearray(_PIECE))
    while (left := begun.offset - content.bytes_read) > 0:
        if not content.readinto(buffer[:left]):
            return False
    return content.fingerprint == begun.prefix


def maker() -> str:
    """The version of the code that a state belongs to: another one begins anew."""
    return f"{STATE_VERSION}/{PARSER_VERSION}"


def kept(translator: Translator, work: FileWork) -> bytes | None:
    """The state of a reading; None when it cannot be kept, or is too large."""
    try:
        state = pickle.dumps((translator, work), pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError, MemoryError):
        return None
    return zlib.compress(state, 1) if len(state) <= LARGEST else None


def restored(state: bytes) -> tuple[Translator, FileWork] | None:
    """What `kept` was given; None when it is damaged or holds anything that a reading does not."""
    try:
        packed = zlib.decompressobj()
        data = packed.decompress(state, LARGEST + 1)
        found = _OwnOnly(io.BytesIO(data)).load() if len(data) <= LARGEST else None
    except Exception:  # a damaged pickle raises whatever the bytes lead to
        return None
    if not isinstance(found, tuple) or len(found) != 2 or not isinstance(found[1], FileWork):
        return None
    return found


class _OwnOnly(pickle.Unpickler):
    """Of https://docs.python.org/3/library/pickle.html#restricting-globals."""

    def find_class(self, module: str, name: str) -> object:
        full = f"{module}.{name}"
        if full in _PLAIN or full in _OUR_FUNCTIONS:
            return super().find_class(module, name)
        if f"{module}.".startswith(_OUR_OWN):
            found = getattr(importlib.import_module(module), name, None)
            if isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{full} is no part of a reading")
