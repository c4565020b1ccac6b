"""Finishes a load: writes the ledger, checks and publishes the new store file, and makes the report."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path

import msgspec
import pyarrow as pa
from msgspec.structs import asdict, astuple

from ingest.events import FaultLayer
from ingest.formats import formats
from ingest.load_report import DamagedFile, LoadReport, RejectedFile
from ingest.pipeline.planning.model_aliases import find_aliases
from ingest.pipeline.planning.naming import AliasSettings, Naming
from ingest.pipeline.reading.file_reader import FileResult
from ingest.sessions.row_batches import Row, to_arrow
from ingest.store.generation_file import GenerationBuilder, utc_now
from ingest.store.generations import StoreFolder
from ingest.store.ledger import FileLook, FileStatus, LedgerCopy, LedgerRow
from ingest.store.reader import read_aliases
from ingest.store.retention import hold_to_limits
from ingest.store.settling.late_arrivals import conclude_late_turns
from ingest.store.settling.settle import MODEL_NAMES, add_changes, rename_models, settle
from ingest.store.writer import BATCH_ROWS, FactWriter
from ingest.version import CALLGAUGE_VERSION
from lenient import PARSER_VERSION
from lenient.diagnostics.codes import CODES


class LoadedFile(msgspec.Struct, frozen=True, gc=False):
    """A file that was read, and the numbers of its lines and of its rows."""

    known: LedgerRow
    lines: int
    sessions: int
    turns: int
    calls: int
    rejects: int


class LoadTotals(msgspec.Struct):
    """What a load has done so far: files by outcome, and counts."""

    unchanged: int = 0
    loaded: list[LoadedFile] = []
    lines_read: int = 0
    bytes_read: int = 0
    forgot: list[int] = []  # ids of files with sessions that must be deleted
    rejected: list[RejectedFile] = []
    refused_new: list[LedgerRow] = []
    companions: list[RejectedFile] = []
    refused_again: list[LedgerRow] = []
    renamed: list[LedgerRow] = []
    # ids of files that were already in the store, with the files' present stamps
    seen_anew: list[tuple[int, FileLook]] = []
    copies: list[LedgerCopy] = []
    worth_noting: bool = False  # True when the check of an unchanged file or of a copy took long
    # The id of a replaced file → the id of the file that replaced it, or None if no file did.
    replaced: dict[int, int | None] = {}
    removed: set[int] = set()  # ids in `replaced` whose files now have other content
    # file id → row for earlier content that stays in the store
    retired: dict[int, LedgerRow] = {}
    figures: dict[str, int] = {}
    # ledger rows with the names that the privacy rules require
    veiled: list[LedgerRow] = []
    less_kept: bool = False  # True when files were read again to store less of them
    unread: int = 0
    left: int = 0
    # ids of files in this load whose content is in the store
    present: list[int] = []
    newest: datetime | None = None  # when the newest session of these files ended
    notes: tuple[str, ...] = ()
    # missing fact → names of files that lack the fact
    missing: dict[str, list[str]] = {}
    rejects: int = 0
    damaged: list[DamagedFile] = []

    @property
    def has_changes(self) -> bool:
        news = (
            *(self.loaded, self.refused_new, self.refused_again, self.renamed),
            *(self.replaced, self.retired),
        )
        return any(news) or self.worth_noting

    def add_loaded(self, row: LedgerRow, intake: FileResult) -> None:
        rows = intake.rows
        counts = (rows["sessions"], rows["turns"], rows["tool_calls"], rows["rejects"])
        self.loaded.append(LoadedFile(row, intake.lines, *counts))
        self.lines_read += intake.lines_read
        self.bytes_read += intake.bytes_read
        self.rejects += rows["rejects"]
        for fact in intake.missing:
            self.missing.setdefault(fact, []).append(row.name)
        if intake.forgot:
            self.forgot.append(row.file_id)

    def add_refused(self, row: LedgerRow, *, is_new: bool = False) -> None:
        listed = self.companions if row.status is FileStatus.COMPANION else self.rejected
        listed.append(RejectedFile(row.name, row.reason or "", row.foreign, is_new))

    def make_report(self, generation: str | None, seconds: float) -> LoadReport:
        return LoadReport(
            loaded=len(self.loaded),
            unchanged=self.unchanged,
            moved=len(self.renamed),
            rejected=tuple(self.rejected),
            companions=tuple(self.companions),
            lines=self.lines_read,
            bytes=self.bytes_read,
            sessions=sum(loaded_file.sessions for loaded_file in self.loaded),
            turns=sum(loaded_file.turns for loaded_file in self.loaded),
            calls=sum(loaded_file.calls for loaded_file in self.loaded),
            duplicates=self.figures.get("duplicates", 0),
            rejects=self.rejects,
            new_rejects=self.figures.get("new_rejects", self.rejects),
            new_rejected=sum(rejected_file.is_new for rejected_file in self.rejected),
            damaged=tuple(self.damaged),
            sessions_replaced=self.figures.get("sessions_replaced", 0),
            sessions_removed=self.figures.get("sessions_removed", 0),
            calls_fewer=self.figures.get("calls_fewer", 0),
            faults={layer.value: self.figures[layer] for layer in FaultLayer if layer in self.figures},
            judged=self.figures.get("judged", 0),
            unread=self.unread,
            left=self.left,
            notes=(*self.notes, *describe_missing(self.missing)),
            newest=self.newest,
            generation=generation,
            seconds=seconds,
        )


_MISSING_ADVICE = {
    "model": "; --model NAME names it",
    "time": "; --from-path takes the {date} from the path",
    "tool definitions": "; --tools FILE gives them",
}


def describe_missing(missing: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a sentence for each fact that some files lack."""
    for fact, names in missing.items():
        files = names[0] if len(names) == 1 else f"{len(names):,} files, such as {names[0]}"
        of_map = "; `callgauge ingest --dry-run` shows what --map finds" if " at " in fact else ""
        yield f"no {fact} in {files}{_MISSING_ADVICE.get(fact, of_map)}"


def publish(
    writer: FactWriter,
    folder: StoreFolder,
    totals: LoadTotals,
    started_at: datetime,
    labels: Mapping[str, str],
    naming: Naming,
) -> str:
    """Write the ledger, complete and check the new store file, publish it, and return its name.

    `totals.figures` and `totals.rejects` are filled from the new data. `labels` are names of prompts.
    `naming` has the rules for model aliases and for results whose content reports a failure.
    """
    writer.flush()
    pa.default_memory_pool().release_unused()  # DuckDB can use the memory that the last batch took
    building = writer.builder
    run_id = building.next_run_id()
    building.mark_replaced(totals.replaced, totals.removed)
    building.retire(list(totals.retired))
    building.drop_quotes(totals.forgot)
    rejects = 0
    for files in _split_rows(_file_rows(totals, run_id, writer.unfit)):
        rejects += sum(row["rejects"] for row in files)
        building.add(_arrow_tables(building.schemas, {"files": files}))
    for copies in _split_rows(map(_copy_row, totals.copies)):
        building.add(_arrow_tables(building.schemas, {"copies": copies}))
    for renamed_row in totals.renamed + [row for row in totals.veiled if row.file_id not in totals.replaced]:
        building.rename(renamed_row)
    looks = [(row.file_id, row.outside) for row in totals.renamed] + totals.seen_anew
    building.update_stamps([{"file_id": file_id, **_look_row(outside)} for file_id, outside in looks])
    for row in totals.refused_again:
        building.note_refusal(row)
    run = _run_row(totals, run_id, started_at) | {"rejects": rejects}
    building.add(_arrow_tables(building.schemas, {"ingest_runs": [run]}))
    building.replace_tables(standing_tables(building.schemas))
    building.set_labels(labels)
    settle(building, run_id)
    conclude_late_turns(building, naming.failures)
    count_models(building, naming.aliases)
    add_changes(building)
    totals.figures = building.run_figures()
    totals.rejects = totals.figures["rejects"]
    totals.damaged = building.list_damaged_files() if totals.figures["new_rejects"] else []
    totals.notes += tuple(
        f"{title}: the arguments of {redacted:,} of {calls:,} calls are redacted; they are not measured"
        for title, redacted, calls in building.count_redacted_calls()
    )
    if totals.less_kept:
        building.drop_unused()
    too_old = hold_to_limits(building)
    if too_old:
        totals.notes += (f"{too_old:,} sessions are older than the store keeps them: see callgauge retain",)
    totals.newest = building.find_newest_time(totals.present)
    if too_old or totals.less_kept:
        building.rewrite()
    else:
        building.finish()
    return folder.publish()


def count_models(building: GenerationBuilder, aliases: AliasSettings) -> None:
    """Count the models of the store again after applying the aliases.

    A table `touched_days` (day) must exist.
    """
    names = [row["model_name"] for row in building.fetch_rows(MODEL_NAMES)]
    rename_models(building, [asdict(alias) for alias in find_aliases(names, aliases)])


def has_new_aliases(generation: Path, aliases: AliasSettings) -> bool:
    """Return True when the aliases would change under which model the store counts a call.

    Raises StoreError.
    """
    names, stored_aliases = read_aliases(generation)
    return {astuple(alias) for alias in find_aliases(names, aliases)} != stored_aliases


def standing_tables(schemas: Mapping[str, pa.Schema]) -> dict[str, pa.Table]:
    """Return the tables whose rows depend only on the version of Callgauge: `codes` and `sources`."""
    return dict(_make_standing_tables(schemas["codes"], schemas["sources"]))


@lru_cache(maxsize=1)
def _make_standing_tables(codes: pa.Schema, sources: pa.Schema) -> dict[str, pa.Table]:
    rows = {"codes": _code_rows(), "sources": _source_rows()}
    return _arrow_tables({"codes": codes, "sources": sources}, rows)


def _arrow_tables(schemas: Mapping[str, pa.Schema], rows: Mapping[str, list[Row]]) -> dict[str, pa.Table]:
    return {name: to_arrow(name, some, schemas[name])[0] for name, some in rows.items() if some}


def _split_rows(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Yield the rows in lists of at most `BATCH_ROWS`."""
    rows = iter(rows)
    while some := list(islice(rows, BATCH_ROWS)):
        yield some


def _file_rows(totals: LoadTotals, run_id: int, unfit: Mapping[int, int]) -> Iterable[Row]:
    for loaded_file in totals.loaded:
        yield _file_row(loaded_file.known, run_id) | {
            "source": loaded_file.known.source,
            "lines": loaded_file.lines,
            "read_bytes": loaded_file.known.size,
            "sessions": loaded_file.sessions,
            "turns": loaded_file.turns,
            "calls": loaded_file.calls,
            "rejects": loaded_file.rejects + unfit.get(loaded_file.known.file_id, 0),
        }
    for refused_row in totals.refused_new:
        zero = dict.fromkeys(("lines", "read_bytes", "sessions", "turns", "calls", "rejects"), 0)
        yield _file_row(refused_row, run_id) | zero


def _file_row(row: LedgerRow, run_id: int) -> Row:
    return {
        "file_id": row.file_id,
        "run_id": run_id,
        "path": row.name,
        "status": row.status,
        "reason": row.reason,
        "size_bytes": row.size,
        "fingerprint": row.fingerprint,
        "head": row.head,
        **_look_row(row.outside),
        "tools_hash": row.read_with.tools,
        "cut_at": row.read_with.cut_at,
        "privacy": row.read_with.privacy,
        "forgetful": row.forgetful,
        "foreign_kind": row.foreign,
        "refused_by": row.refused_by,
        "path_facts": row.read_with.facts,
        "follows": row.follows,
        "lacks": json.dumps(row.lacks) if row.lacks else None,
    }


def _copy_row(copy: LedgerCopy) -> Row:
    return {"path": copy.name, "file_id": copy.file_id, **_look_row(copy.outside)}


def _look_row(outside: FileLook) -> Row:
    file_state = outside.seen
    return {
        "stored_bytes": file_state.size,
        "mtime_ns": file_state.mtime_ns,
        "version": file_state.version,
        "archive": outside.archive,
        "archive_seen": outside.archive_seen,
    }


def _run_row(totals: LoadTotals, run_id: int, started_at: datetime) -> Row:
    report = totals.make_report(None, 0.0)
    return {
        "run_id": run_id,
        "started_at": started_at,
        "finished_at": utc_now(),
        "callgauge_version": CALLGAUGE_VERSION,
        "parser_version": PARSER_VERSION,
        "files_loaded": report.loaded,
        "files_unchanged": report.unchanged + report.moved,
        "files_rejected": sum(rejected_file.foreign is None for rejected_file in report.rejected),
        "bytes": report.bytes,
        "lines": report.lines,
        "sessions": report.sessions,
        "turns": report.turns,
        "calls": report.calls,
        **dict.fromkeys(("sessions_replaced", "sessions_removed", "calls_fewer"), 0),
    }


def _code_rows() -> list[Row]:
    names = ("stage", "severity", "lossy", "summary", "why")
    return [{"code": code.name, **{name: getattr(code, name) for name in names}} for code in CODES.values()]


def _source_rows() -> list[Row]:
    return [{"source": name, **asdict(form.SOURCE)} for name, form in formats().items()]
