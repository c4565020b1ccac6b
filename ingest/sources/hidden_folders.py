"""What a search passed over because it is hidden or holds no calls, for the notes of a load."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ingest.sources.stored_names import stored_path

_NAMED = 6  # kinds of hidden folders that a note names


@dataclass(slots=True)
class HiddenNames:
    """The hidden files and folders that a search met.

    `searched` counts the logs found in hidden folders that are known to hold some, by the folder's path.
    `left_out` counts hidden folders that were not entered by name, `first` has the path of the first of each,
    `files` counts hidden files. `idle` counts the files that agents keep beside their sessions and that hold
    no calls, by agent and tree.
    """

    searched: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    files: int = 0
    idle: Counter[tuple[str, str]] = field(default_factory=Counter)

    def leave_out(self, name: str, path: str) -> None:
        self.left_out[name] += 1
        self.first.setdefault(name, stored_path(path))

    def notes(self) -> tuple[str, ...]:
        """Return sentences on what was found in hidden folders, and on what was left out."""
        notes = []
        if self.searched:
            told = ", ".join(f"{path} ({count:,})" for path, count in sorted(self.searched.items()))
            notes.append(f"in hidden folders only the logs of known agents were looked for: {told}")
        if self.left_out or self.files:
            notes.append(self._describe_left_out())
        for (agent, tree), count in sorted(self.idle.items()):
            files = _count(count, "file")
            notes.append(
                f"passed over {files} in {tree} that {agent} keeps beside its sessions: no calls in them"
            )
        return tuple(notes)

    def _describe_left_out(self) -> str:
        told = [
            f"{name} ({count:,})" if count > 1 else name for name, count in self.left_out.most_common(_NAMED)
        ]
        more = len(self.left_out) - len(told)
        parts = [f"{_count(sum(self.left_out.values()), 'hidden folder')}: {', '.join(told)}"] if told else []
        if more > 0:
            parts[0] += f" and {more:,} other names"
        parts += [_count(self.files, "hidden file")] if self.files else []
        example = next(iter(self.first.values()), "its path")
        return f"left out {' and '.join(parts)}; what you name is read, such as `callgauge ingest {example}`"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
