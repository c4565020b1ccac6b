"""The checkpoint of a large log. A later load resumes at the checkpoint, after the last complete line.

The translator, the session builder and the search for unread calls are pickled between two records. A store
may come from another machine, so only plain values and classes of this project can be unpickled.
"""

from __future__ import annotations

import importlib
import io
import pickle
import zlib
from enum import Enum
from typing import Any

import msgspec
from msgspec.structs import replace

from ingest.log_format import Translator
from ingest.pipeline.reading.unread_calls import UnreadCalls
from ingest.sessions.row_batches import TableRows
from ingest.sessions.session_builder import SessionBuilder
from ingest.sessions.stored_text import shorten_name
from ingest.sources.log_content import LogContent
from lenient import PARSER_VERSION

WORTH = 8 * 1024 * 1024  # bytes of log; to read a smaller log again is faster than to store the state
STATE_VERSION = 18  # increase this number when a pickled class moves or changes its fields
LARGEST = 32 * 1024 * 1024  # bytes of state; a log with a larger state is read again from its beginning

# tables whose rows belong to a position in the log, not to a turn
BY_PLACE = ("probes", "rejects", "late_results")

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


class Checkpoint(msgspec.Struct, frozen=True):
    """The position and the state from which the reading of a log can resume.

    The first `offset` bytes have the fingerprint `prefix`. `line` is the number of the next line. `state` is
    the pickled state.

    `turns` and `places` list the rows that the resumed reading must write again, because they were made after
    `state`. `turns` lists rows of turns, by session id, number and first line. `places` lists rows of other
    tables, by table and byte offset.
    """

    offset: int
    line: int
    prefix: str
    state: bytes
    turns: tuple[tuple[str, int, int], ...] = ()
    places: tuple[tuple[str, int], ...] = ()

    def count_rows(self, table: str, rows: TableRows) -> Checkpoint:
        """Return a copy of this checkpoint whose `turns` or `places` also list the given rows.

        Rows of other tables are ignored.
        """
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
    """Read the bytes before the checkpoint. Return True when these bytes are unchanged.

    Raises OSError.
    """
    buffer = memoryview(bytearray(_PIECE))
    while (left := begun.offset - content.bytes_read) > 0:
        if not content.readinto(buffer[:left]):
            return False
    return content.fingerprint == begun.prefix


def state_version() -> str:
    """Return the version of the code that packs the state of reading a log. Other states are ignored."""
    return f"{STATE_VERSION}/{PARSER_VERSION}"


def pack_state(translator: Translator, work: SessionBuilder, unread: UnreadCalls) -> bytes | None:
    """Return the pickled and compressed state of reading a log.

    Return None when the state cannot be pickled, or is larger than `LARGEST`.
    """
    packed = io.BytesIO()
    try:
        _Pickler(packed, pickle.HIGHEST_PROTOCOL).dump((translator, work, unread))
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError, MemoryError):
        return None
    state = packed.getvalue()
    return zlib.compress(state, 1) if len(state) <= LARGEST else None


def unpack_state(state: bytes) -> tuple[Translator, SessionBuilder, UnreadCalls] | None:
    """Return the objects that `pack_state` pickled.

    Return None when the state is damaged, too large, or contains a class that is not allowed.
    """
    try:
        packed = zlib.decompressobj()
        data = packed.decompress(state, LARGEST + 1)
        unpickled = _RestrictedUnpickler(io.BytesIO(data)).load() if len(data) <= LARGEST else None
    except Exception:  # a damaged pickle can raise any error
        return None
    if not isinstance(unpickled, tuple) or len(unpickled) != 3:
        return None
    translator, work, unread = unpickled
    if not isinstance(work, SessionBuilder) or not isinstance(unread, UnreadCalls):
        return None
    return translator, work, unread


class _Pickler(pickle.Pickler):
    """Pickler that writes an enum member as class and value.

    Python 3.11.2 would write a call of `getattr`, which the unpickler rejects.
    """

    def reducer_override(self, value: object) -> Any:
        return (type(value), (value.value,)) if isinstance(value, Enum) else NotImplemented


class _RestrictedUnpickler(pickle.Unpickler):
    """Unpickler that makes only plain values and objects of this project.

    See https://docs.python.org/3/library/pickle.html#restricting-globals.
    """

    def find_class(self, module: str, name: str) -> object:
        full = f"{module}.{name}"
        if full in _PLAIN or full in _OUR_FUNCTIONS:
            return super().find_class(module, name)
        if f"{module}.".startswith(_OUR_OWN):
            attribute = getattr(importlib.import_module(module), name, None)
            if isinstance(attribute, type):
                return attribute
        raise pickle.UnpicklingError(f"{full} is not allowed in a checkpoint")
