"""The keys of callgauge.toml: what each may hold and what it says. Reader and JSON Schema are made of it."""

from __future__ import annotations

from typing import get_args

from callgauge.checked_files.field_types import (
    REQUIRED,
    Address,
    Choice,
    Field,
    FieldType,
    Flag,
    KeyedTable,
    ListOf,
    NamedTables,
    Number,
    Schema,
    Text,
)
from callgauge.configuration.settings import SignInMethod

_VARIABLE = Text(
    'write "env:NAME", the environment variable that holds it; no secret stands in this file',
    r"env:[A-Za-z_][A-Za-z0-9_]*",
    is_secret=True,
)
_NAME = Text(
    "write letters (a to z), digits, `.`, `_` and `-`, at most 64, the first a letter or a digit",
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}",
)
_MOMENT = Text(
    'write a day ("2026-11-20"), a time ("2026-11-20T18:00+01:00") or how long ago ("12h", "7d", "2w")',
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}.*|[0-9]{1,6} *[smhdw]",
)
_DOMAIN = Text('write a domain without its @: "example.com"', r"[^@\s/]+")
_DAYS = Number(1, 36_500, is_whole=True)
_PORT = Number(1, 65_535, is_whole=True)


def _list_of(item: FieldType) -> ListOf:
    return ListOf(item, takes_one=True)


_SOURCE = KeyedTable(
    {
        "paths": Field(_list_of(Text()), "Files, folders, archives, patterns, addresses; as for ingest.", ()),
        "manifests": Field(_list_of(Text()), "Lists of such paths, one a line.", ()),
        "format": Field(Text(), "Read all as this format; contents decide without it."),
        "model": Field(Text(), "The model of logs that name none."),
        "from_path": Field(_list_of(Text()), "Where the path says what the log does not.", ()),
        "silent_after": Field(Number(0), "Days without new data that are too many; 0: never.", 2.0),
    }
)
_LOAD = KeyedTable(
    {
        "tools": Field(_list_of(Text()), "Files with tool definitions, for logs that carry none.", ()),
        "labels": Field(Text(), "A file of names for prompts."),
        "workers": Field(Number(1, 64, is_whole=True), "Processes that read."),
        "on": Field(Text(), "Read on a Ray cluster: ray, or ray://HOST:PORT."),
        "shared": Field(Text(), "With on: a folder or address that all its machines reach, for rows."),
        "max_line": Field(Number(1024, is_whole=True), "The longest line to read, in bytes."),
        "since": Field(_MOMENT, "Only files changed since: 2026-11-20, 12h, 7d, 2w."),
        "replace": Field(Flag(), "Of files that got other content, drop what they no longer hold.", False),
        "redact": Field(Flag(), "Replace secrets, e-mail addresses and home folders.", False),
        "redact_config": Field(Text(), "A file of own patterns; redacts."),
        "results": Field(Flag(), "Keep what tools said.", True),
    }
)
_RETENTION = KeyedTable(
    {
        "text_days": Field(_DAYS, "Arguments, messages and results go after so many days."),
        "fact_days": Field(_DAYS, "Calls, turns and sessions go after so many days; daily sums stay."),
    }
)
_BACKUP = KeyedTable(
    {
        "to": Field(Text(), "A folder, or an address such as s3://bucket/callgauge.", REQUIRED),
        "keep": Field(Number(1, 1000, is_whole=True), "How many backups are kept.", 7),
    }
)
_WEBHOOK = KeyedTable(
    {
        "kind": Field(
            Choice(("slack", "teams", "discord", "json", "apprise")), "What the address understands.", "json"
        ),
        "url": Field(_VARIABLE, "env:NAME, the variable that holds the address.", REQUIRED),
    }
)
_EMAIL = KeyedTable(
    {
        "host": Field(Text(), "The mail server.", REQUIRED),
        "port": Field(_PORT, "Its port.", 587),
        "security": Field(Choice(("starttls", "tls", "none")), "How the connection is secured.", "starttls"),
        "user": Field(Text(), "The name to sign in with; none without it."),
        "password": Field(_VARIABLE, "env:NAME, the variable that holds the password."),
        "from": Field(Text(), "The address it comes from.", REQUIRED),
        "to": Field(_list_of(Text()), "The addresses it goes to.", REQUIRED),
    }
)
_REPORT = KeyedTable(
    {
        "address": Field(Address(), "Where people reach the dashboard, for links."),
        "folder": Field(Text(), "Where reports are written; reports/ in the store without it."),
        "quiet": Field(Flag(), "Send nothing when nothing changed.", False),
        "webhooks": Field(ListOf(_WEBHOOK, fewest=0), "Where it is sent, [[report.webhooks]].", ()),
        "email": Field(_EMAIL, "Who gets it by mail."),
    }
)
_SERVE = KeyedTable(
    {
        "address": Field(Text(), "Where to listen; 0.0.0.0 lets the network in.", "127.0.0.1"),
        "port": Field(_PORT, "The port.", 8501),
        "hosts": Field(_list_of(Text()), "Names by which browsers reach it, besides localhost.", ()),
        "embed_in": Field(_list_of(Text()), "Sites whose pages may show it in a frame.", ()),
        "texts": Field(Flag(), "Show arguments, messages and results; else rates and codes only.", True),
        "healthy_hours": Field(
            Number(0, 24 * 366, is_above=True), "How old the newest load may be for /healthz, in hours.", 26.0
        ),
    }
)
_SIGN_IN = KeyedTable(
    {
        "method": Field(Choice(get_args(SignInMethod)), "How people sign in.", REQUIRED),
        "address": Field(Address(), "Where browsers reach the dashboard; needed behind a proxy with https."),
        "hours": Field(Number(0, 24 * 31, is_above=True), "How long a sign-in lasts.", 12.0),
        "domains": Field(_list_of(_DOMAIN), "Domains of e-mail addresses that may come in.", ()),
        "users": Field(_list_of(Text()), "E-mail addresses that may come in.", ()),
        "groups": Field(_list_of(Text()), "Groups of the provider that may come in.", ()),
        "admins": Field(_list_of(Text()), "E-mail addresses of admins.", ()),
        "admin_groups": Field(_list_of(Text()), "Groups whose members are admins.", ()),
        "secret": Field(_VARIABLE, "env:NAME, the variable that signs the cookies.", "env:CALLGAUGE_SECRET"),
        "issuer": Field(Address(), "OIDC: the provider's address."),
        "client_id": Field(Text(), "OIDC: this dashboard's id there."),
        "client_secret": Field(_VARIABLE, "OIDC: env:NAME.", "env:CALLGAUGE_CLIENT_SECRET"),
        "user_header": Field(Text(), "header: where the proxy names the user.", "X-Forwarded-Email"),
        "groups_header": Field(Text(), "header: where it names the groups.", "X-Forwarded-Groups"),
        "proxies": Field(_list_of(Text()), "header: addresses of the proxy.", ("127.0.0.1", "::1")),
        "password_file": Field(Text(), "password, link: the file of users; that of the store without it."),
    }
)
CONFIGURATION = KeyedTable(
    {
        "store": Field(Text(), "The store's folder.", REQUIRED),
        "sources": Field(NamedTables(_SOURCE, _NAME), "Where logs come from, [sources.NAME].", {}),
        "load": Field(_LOAD, "How logs are loaded."),
        "aliases": Field(NamedTables(Text(), Text()), "Models, each by a name that logs have for it.", {}),
        "retention": Field(_RETENTION, "When data goes."),
        "backup": Field(_BACKUP, "Where backups go."),
        "report": Field(_REPORT, "The morning report."),
        "serve": Field(_SERVE, "Where the dashboard listens."),
        "sign_in": Field(_SIGN_IN, "Who may see the dashboard."),
    }
)


def configuration_schema() -> Schema:
    """Return the JSON Schema of callgauge.toml, as editors take it (draft 7)."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "The configuration of a team's Callgauge",
        **CONFIGURATION.to_schema(),
    }
