"""Finds model, prompt, run and date in the paths of logs, with patterns from the command line or the store.

The file `naming.toml` in the store's folder contains patterns for every load, and the aliases of models:

    [[path]]
    pattern = "result/{model}/{run}/*.json"

    [[path]]
    pattern = "nightly/{date}/*"
    model = "gpt-4o"
    map = { messages = ".request.messages" }

    [map]                # for all other files: paths of the fields of chat transcripts
    messages = ".body.messages"

    [aliases]
    enabled = true       # false: every model is counted under the name that the log has
    defaults = true      # false: Callgauge's own rules do not apply
    [aliases.names]
    "our-proxy/sonnet" = "claude-sonnet-4-5"

    [failures]
    fields = ["success", "ok", "status"]   # fields in which a tool reports its own failure; [] = none
    [failures.tools]
    "search_logs" = []                     # no such field for this tool
    "mcp__ci__*" = ["success"]

Aliases of a callgauge.toml are also stored, as aliases.json, so that every command counts the store's models
in the same way. A name that is in both files is an error.

A label file gives prompts names that users chose, as JSON `{"<prompt id or hash>": "<name>"}`
(`read_labels`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import orjson
from msgspec.structs import replace

from ingest.errors import OptionError, explain_os_errors
from ingest.record_mapping import BadMappingError, RecordMapping
from ingest.safe_files import replace_text
from ingest.sessions.path_facts import NO_FACTS, FactSource, PathFact, PathFacts
from ingest.sessions.results.failure_envelopes import DEFAULT_RULES, FIELDS, FailureRules
from lenient.regex import compile_regex

FILE = "naming.toml"
KEPT_ALIASES = "aliases.json"
MAP_UNUSED = (
    "--map changed nothing: no file of this load is read as a chat transcript; --dry-run lists their "
    "formats, --format chat_jsonl reads them as one"
)
NO_PATHS: Mapping[str, str] = MappingProxyType({})
_FACTS = ("model", "prompt", "run", "date")
_SHORTEST_HASH = 6  # characters; a shorter prefix of a hash could match several prompts


class BadRuleError(Exception):
    """A pattern or a rule that cannot be used.

    The message continues a sentence that begins with the position of the pattern or rule.
    """


_TOKEN = compile_regex(r"\{([a-z]*)\}|(\*\*/?)|(\*)|(\?)")
# A date must have the form of a day, so that a pattern does not match by chance.
_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}"
_HOW = 'write one such as "result/{model}/{run}/*.json"; the names are {model}, {prompt}, {run} and {date}'


class PathRule(msgspec.Struct, frozen=True):
    """A pattern for paths. `fixed` and `mapped` are facts for all files whose path matches."""

    regex: re.Pattern[str]
    fixed: Mapping[str, str] = {}
    mapped: PathFacts = NO_FACTS

    def read_facts(self, path: str) -> PathFacts | None:
        """Return the facts in a path. Return None when the path does not match."""
        match = self.regex.search(path)
        if match is None:
            return None
        texts = {**self.fixed, **match.groupdict()}
        try:
            facts = {name: PathFact(_clean(name, text), FactSource.PATH) for name, text in texts.items()}
            return self.mapped.update(PathFacts(**facts))
        except ValueError:  # 20269999, for example, is not a day
            return None


class AliasSettings(msgspec.Struct, frozen=True):
    """The rules for model aliases.

    `own` maps names to models. `own_rule` is the name of the file with these rules. With `defaults`, the
    default rules also apply.
    """

    enabled: bool = True
    defaults: bool = True
    own: Mapping[str, str] = {}
    own_rule: str = FILE


DEFAULT_ALIASES = AliasSettings()
_TABLES = ("path", "map", "aliases", "failures")


class Naming(msgspec.Struct, frozen=True):
    """The rules that find facts about the files of a load.

    The first rule that matches a path has priority over the facts for all files. A mapping in the load's
    options (`mapped`) replaces the mapping of a rule.
    """

    rules: tuple[PathRule, ...] = ()
    given: PathFacts = NO_FACTS
    aliases: AliasSettings = DEFAULT_ALIASES
    mapped: PathFacts = NO_FACTS
    failures: FailureRules = DEFAULT_RULES

    def facts_of(self, path: str, known_facts: PathFacts) -> PathFacts:
        """Return the facts of a file.

        If no rule gives a fact, the fact from an earlier load (`known_facts`) stays.
        """
        rule_facts = (facts for rule in self.rules if (facts := rule.read_facts(path)) is not None)
        return known_facts.update(self.given).update(next(rule_facts, NO_FACTS)).update(self.mapped)


NO_RULES = Naming()


def read_naming(
    store_dir: Path,
    patterns: Sequence[str] = (),
    model: str | None = None,
    mapping: Mapping[str, str] = NO_PATHS,
) -> Naming:
    """Return the rules of a load. `patterns` come first, then the rules in the store's `naming.toml`.

    `model` is used when neither the log nor a pattern names a model. `mapping` has paths by field for chat
    transcripts. Raises OptionError.
    """
    if model is not None and not model.strip():
        raise OptionError("--model is empty; give the model for logs that do not contain one")
    try:
        rules = [PathRule(compile_pattern(pattern)) for pattern in patterns]
    except BadRuleError as problem:
        raise OptionError(f"--from-path {problem}; {_HOW}") from problem
    try:
        mapped = check_mapping(mapping)
    except BadRuleError as problem:
        raise OptionError(f"--map {problem}") from problem
    file_rules, default, aliases, failures = _read_file(store_dir / FILE)
    if own_aliases := _read_stored_aliases(store_dir / KEPT_ALIASES):
        if aliases.own:
            raise OptionError(
                f"{store_dir / FILE} and the callgauge.toml of this store both name models; keep all names "
                "in one of the two"
            )
        aliases = replace(aliases, own=own_aliases, own_rule="callgauge.toml")
    given_facts = PathFacts(model=PathFact(model, FactSource.GIVEN)) if model else NO_FACTS
    return Naming((*rules, *file_rules), default.update(given_facts), aliases, mapped, failures)


def keep_aliases(store_dir: Path, names: Mapping[str, str]) -> None:
    """Replace the stored aliases by the aliases of a callgauge.toml. If there are none, remove the stored
    aliases.

    Raises StoreError.
    """
    path = store_dir / KEPT_ALIASES
    with explain_os_errors(store_dir):
        if not names:
            path.unlink(missing_ok=True)
            return
        options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS
        replace_text(path, orjson.dumps(dict(names), option=options).decode())


def _read_stored_aliases(path: Path) -> dict[str, str]:
    try:
        names = orjson.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as problem:
        raise OptionError(f"{path} cannot be read: {problem}; remove it and load again") from problem
    if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
        raise OptionError(f"{path} contains no aliases; delete it and load again")
    return names


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return a pattern as a regular expression that is searched in a path.

    In a pattern, `{name}` and `*` match characters within one file or folder name. `**` matches any number of
    folders, `?` one character. A match begins at any folder and ends at the end of a name. Raises
    BadRuleError.
    """
    parts, names, at = [], [], 0
    for token in _TOKEN.finditer(pattern):
        parts.append(re.escape(pattern[at : token.start()]))
        at = token.end()
        name, folders, star, _ = token.groups()
        if name is not None:
            if name not in _FACTS or name in names:
                why = " twice" if name in names else ", which is unknown"
                raise BadRuleError(f"{pattern!r} has {{{name}}}{why}")
            names.append(name)
            parts.append(f"(?P<{name}>{_DAY if name == 'date' else '[^/]+'})")
        elif folders:
            parts.append("(?:[^/]+/)*" if folders.endswith("/") else ".*")
        else:
            parts.append("[^/]*" if star else "[^/]")
    parts.append(re.escape(pattern[at:].removesuffix("/")))
    return re.compile(f"(?:^|[/!]){''.join(parts).removeprefix('/')}(?=/|!|$)")


def _clean(name: str, text: str) -> str:
    return date.fromisoformat(text).isoformat() if name == "date" else text


def read_mapping(facts: PathFacts) -> RecordMapping | None:
    """Return the field mapping of a file with these facts. Return None when they contain no mapping."""
    return RecordMapping.from_json(facts.mapping.value) if facts.mapping is not None else None


def check_mapping(paths: Any) -> PathFacts:
    """Return a mapping of field paths as a fact about files. Return None when there are no paths. Raises
    BadRuleError.
    """
    if not isinstance(paths, Mapping) or not all(isinstance(path, str) for path in paths.values()):
        raise BadRuleError('map needs lines such as messages = ".request.messages"')
    if not paths:
        return NO_FACTS
    try:
        return PathFacts(mapping=PathFact(RecordMapping.parse(paths).to_json(), FactSource.GIVEN))
    except BadMappingError as problem:
        raise BadRuleError(str(problem)) from problem


def _read_file(path: Path) -> tuple[list[PathRule], PathFacts, AliasSettings, FailureRules]:
    try:
        text = path.read_text("utf-8")
        import tomllib  # few stores have such a file

        tables = tomllib.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        return [], NO_FACTS, DEFAULT_ALIASES, DEFAULT_RULES
    except (OSError, ValueError) as problem:
        raise OptionError(f"{path} cannot be read: {problem}") from problem
    if unknown := tables.keys() - set(_TABLES):
        raise OptionError(
            f"{path}: {min(unknown)!r} is unknown; use [[path]], [map], [aliases] and [failures]"
        )
    try:
        rules = [_read_rule(rule) for rule in _list_of_tables(tables.get("path", []))]
        mapped, aliases = check_mapping(tables.get("map", {})), _read_aliases(tables.get("aliases", {}))
        return rules, mapped, aliases, _read_failures(tables.get("failures", {}))
    except BadRuleError as problem:
        raise OptionError(f"{path}: {problem}") from problem


def _list_of_tables(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise BadRuleError("write each rule under [[path]]")
    return value


def _read_rule(rule: dict[str, Any]) -> PathRule:
    pattern = rule.get("pattern")
    fixed = {name: value for name, value in rule.items() if name not in ("pattern", "map")}
    if not isinstance(pattern, str):
        raise BadRuleError(f"a rule under [[path]] has no pattern; {_HOW}")
    if unknown := fixed.keys() - set(_FACTS):
        raise BadRuleError(f"the rule {pattern!r} has {min(unknown)!r}, which is unknown; {_HOW}")
    fixed = {name: value.isoformat() if isinstance(value, date) else value for name, value in fixed.items()}
    if bad := [name for name, value in fixed.items() if not isinstance(value, str) or not value]:
        raise BadRuleError(f"the rule {pattern!r} has {bad[0]} = {fixed[bad[0]]!r}; write a text")
    regex = compile_pattern(pattern)
    if both := fixed.keys() & regex.groupindex.keys():
        raise BadRuleError(f"the rule {pattern!r} has {min(both)} twice: in the pattern and next to it")
    if "date" in fixed and not re.fullmatch(_DAY, fixed["date"]):
        raise BadRuleError(f"the rule {pattern!r} has date = {fixed['date']!r}; write a day, 2026-11-20")
    return PathRule(regex, fixed, check_mapping(rule.get("map", {})))


def _read_aliases(table: Any) -> AliasSettings:
    if not isinstance(table, dict):
        raise BadRuleError("[aliases] must be a table")
    if unknown := table.keys() - {"enabled", "defaults", "names"}:
        raise BadRuleError(
            f"[aliases] has {min(unknown)!r}, which is unknown; use enabled, defaults and names"
        )
    switches = {name: table.get(name, True) for name in ("enabled", "defaults")}
    if bad := [name for name, value in switches.items() if not isinstance(value, bool)]:
        raise BadRuleError(f"{bad[0]} of [aliases] must be true or false")
    own = table.get("names", {})
    if not isinstance(own, dict) or not all(isinstance(name, str) and name for name in own.values()):
        raise BadRuleError('[aliases.names] needs lines such as "name in the log" = "model"')
    return AliasSettings(own=own, **switches)


def _read_failures(table: Any) -> FailureRules:
    if not isinstance(table, dict):
        raise BadRuleError("[failures] must be a table")
    if unknown := table.keys() - {"fields", "tools"}:
        raise BadRuleError(f"[failures] has {min(unknown)!r}, which is unknown; use fields and tools")
    tools = table.get("tools", {})
    if not isinstance(tools, dict):
        raise BadRuleError('[failures.tools] needs lines such as "search_logs" = []')
    own = tuple((pattern, _read_fields(fields, pattern)) for pattern, fields in tools.items())
    return FailureRules(_read_fields(table.get("fields", sorted(FIELDS)), "fields"), own)


def _read_fields(listed: Any, name: str) -> frozenset[str]:
    if not isinstance(listed, list) or not all(
        isinstance(field, str) and field in FIELDS for field in listed
    ):
        field_names = ", ".join(f'"{field}"' for field in sorted(FIELDS))
        raise BadRuleError(
            f"{name} of [failures] is {listed!r}; write a list of {field_names}; [] counts none"
        )
    return frozenset(listed)


def read_labels(path: Path | None) -> Mapping[str, str]:
    """Return users' names for prompts, by prompt id or by the first characters of a prompt text's hash.

    If `path` is None, return an empty result. Raises OptionError when the file is invalid, or when a hash is
    too short.
    """
    if path is None:
        return {}
    try:
        labels = orjson.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        what = error.strerror if isinstance(error, OSError) else f"not JSON: {error}"
        raise OptionError(f"no labels can be read from {path}: {what}") from error
    if not isinstance(labels, dict) or not all(isinstance(name, str) for name in labels.values()):
        raise OptionError(f'no labels can be read from {path}: it is not of the form {{"prompt id": "name"}}')
    if short := [key for key in labels if len(key) < _SHORTEST_HASH and "@" not in key]:
        raise OptionError(f"{path}: {short[0]!r} is too short; give {_SHORTEST_HASH} characters or more")
    return labels
