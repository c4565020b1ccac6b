"""The groups of the commands, and the help texts that list them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import typer
from typer.core import TyperGroup

from callgauge.cli.render.exit_codes import MEANINGS

Command = Any  # Typer has no public type for its commands and groups.
GROUPS: Mapping[str, tuple[str, ...]] = {
    "Everyday commands": ("demo", "up", "ingest", "serve", "parse", "report", "gate", "record"),
    "Next steps": ("fix-definition", "which-model", "public-rates", "mcp-servers", "publish"),
    "Administration": (
        "rejects", "reparse", "models", "prices", "forget", "retain", "backup", "restore", "verify",
        "nightly", "metrics", "memory", "users", "token", "mcp", "init-config", "check-config",
        "install-service",
    ),
    "Experiments": ("trial", "export-tests", "chat", "probe"),
    "Reference": ("explain", "formats", "lint"),
}  # fmt: skip
"""The commands of each group, in the order of the help text."""


class CommandGroup(TyperGroup):
    """A command whose help text lists the commands by group, and then the exit codes."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command. An invalid value is reported without the prefix that pydantic adds."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as problem:
            problem.message = problem.message.removeprefix("Value error, ")
            raise

    def list_commands(self, _ctx: Any) -> list[str]:
        """Return the command names in the order of the groups. Names without a group come last."""
        grouped = [name for names in GROUPS.values() for name in names if name in self.commands]
        return [*grouped, *(name for name in self.commands if name not in grouped)]

    def format_commands(self, _ctx: Any, formatter: Any) -> None:
        width = max(map(len, self.commands))
        for title, commands in grouped_commands(self):
            with formatter.section(title):
                rows = [(name.ljust(width), describe(command)) for name, command in commands]
                formatter.write_dl(rows)

    def format_epilog(self, _ctx: Any, formatter: Any) -> None:
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(int(code)), meaning) for code, meaning in MEANINGS.items()])


def grouped_commands(group: TyperGroup) -> Iterator[tuple[str, list[tuple[str, Command]]]]:
    """Yield each group with the commands that exist. Commands without a group come last, as "More"."""
    in_groups = {name for names in GROUPS.values() for name in names}
    others = tuple(name for name in group.commands if name not in in_groups)
    for title, names in {**GROUPS, "More": others}.items():
        if commands := [(name, group.commands[name]) for name in names if name in group.commands]:
            yield title, commands


def describe(command: Command) -> str:
    """Return the first sentence of a command's help. The sentence is never shortened."""
    return str(command.get_short_help_str(limit=1_000))
