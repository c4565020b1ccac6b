"""Checkpoint of a large log that may grow: the state from which a later load resumes after its last whole
line.

The state of a reading is its translator and its work, pickled between two records. A store is handed from one
machine to another, so unpickling makes nothing but our own classes and plain values.
"""

from __future__ import annotations

import importlib
import io
import pickle
import zlib
from dataclasses import dataclass, replace

from ingest.log_format import Translator
from ingest.sessions.row_batches import TableRows
from ingest.sessions.session_builder import SessionBuilder
from ingest.sessions.stored_text import shorten_name
from ingest.sources.log_content import LogContent
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
_OUR_FUNCTIONS = frozenset({"ingest.log_format.read_no_sibling"})


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Says where and how to resume: behind the first `offset` bytes, of which `prefix` is the fingerprint.

    `line` is the number of the line that begins there. What was told after the state was kept is told again
    by who reads on: `turns` by session, number and first line, other rows by table and place.
    """

    offset: int
    line: int
    prefix: str
    state: bytes
    turns: tuple[tuple[str, int, int], ...] = ()
    places: tuple[tuple[str, int], ...] = ()

    def count_rows(self, table: str, rows: TableRows) -> Checkpoint:
        """Return the same when these rows have been told, too."""
        if table == "turns":
            turns = tuple(
                (shorten_name(row["session_id"]), row["turn"], row["line"]) for row in rows.to_dicts()
            )
            return replace(self, turns=self.turns + turns)
        if table in BY_PLACE:
            places = tuple((table, row["byte_offset"]) for row in rows.to_dicts())
            return replace(self, places=self.places + places)
        return self


def skip_known_prefix(content: LogContent, begun: Checkpoint) -> bool:
    """Read past what was read before; return True when it is the same. Raises OSError."""
    buffer = memoryview(bytearray(_PIECE))
    while (left := begun.offset - content.bytes_read) > 0:
        if not content.readinto(buffer[:left]):
            return False
    return content.fingerprint == begun.prefix


def state_version() -> str:
    """Return the version of the code that a state belongs to: another one begins anew."""
    return f"{STATE_VERSION}/{PARSER_VERSION}"


def pack_state(translator: Translator, work: SessionBuilder) -> bytes | None:
    """Return the state of a reading; None when it cannot be kept, or is too large."""
    try:
        state = pickle.dumps((translator, work), pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError, MemoryError):
        return None
    return zlib.compress(state, 1) if len(state) <= LARGEST else None


def unpack_state(state: bytes) -> tuple[Translator, SessionBuilder] | None:
    """Return what `pack_state` was given. None when it is damaged or holds a class that no reading has."""
    try:
        packed = zlib.decompressobj()
        data = packed.decompress(state, LARGEST + 1)
        found = _RestrictedUnpickler(io.BytesIO(data)).load() if len(data) <= LARGEST else None
    except Exception:  # a damaged pickle raises whatever the bytes lead to
        return None
    if not isinstance(found, tuple) or len(found) != 2 or not isinstance(found[1], SessionBuilder):
        return None
    return found


class _RestrictedUnpickler(pickle.Unpickler):
    """See https://docs.python.org/3/library/pickle.html#restricting-globals."""

    def find_class(self, module: str, name: str) -> object:
        full = f"{module}.{name}"
        if full in _PLAIN or full in _OUR_FUNCTIONS:
            return super().find_class(module, name)
        if f"{module}.".startswith(_OUR_OWN):
            found = getattr(importlib.import_module(module), name, None)
            if isinstance(found, type):
                return found
        raise pickle.UnpicklingError(f"{full} is no part of a reading")
