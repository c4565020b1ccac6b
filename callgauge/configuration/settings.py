"""The settings of callgauge.toml.

Each class declares the keys of a table and the JSON Schema of the keys. Paths are absolute. A field whose
name ends with `_variable` names the environment variable that contains a secret.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, get_args

import msgspec

from callgauge.checked_files.field_types import (
    Address,
    Choice,
    FieldType,
    Flag,
    Key,
    ListOf,
    NamedTables,
    Number,
    Text,
    declare_table,
)

WebhookKind = Literal["slack", "teams", "discord", "json", "apprise"]
MailSecurity = Literal["starttls", "tls", "none"]
SignInMethod = Literal["none", "password", "link", "header", "oidc"]


class PlaceText(Text, frozen=True):
    """A folder, file, pattern or remote address. Paths are relative to the folder of callgauge.toml."""


class FileText(PlaceText, frozen=True):
    """A local folder or file."""


class VariableText(Text, frozen=True):
    """The name of an environment variable, written as `env:NAME`."""


def _list_of(item: FieldType) -> ListOf:
    return ListOf(item, takes_one=True)


_VARIABLE = VariableText(
    'write "env:NAME", naming the environment variable with the secret; this file must not contain secrets',
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
_TEXTS = _list_of(Text())
_PLACES = _list_of(PlaceText())
_DAYS = Number(1, 36_500, is_whole=True)
_PORT = Number(1, 65_535, is_whole=True)


class SourceSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A group of logs, such as the logs of one gateway.

    If `silent_after` is None, the source never counts as silent.
    """

    name: str
    paths: Annotated[
        tuple[str, ...], _PLACES, "Files, folders, archives, patterns, addresses; as for ingest."
    ] = ()
    manifests: Annotated[tuple[str, ...], _PLACES, "Lists of such paths, one a line."] = ()
    log_format: Annotated[
        str | None, Text(), "Read all as this format; contents decide without it.", Key("format")
    ] = None
    model: Annotated[str | None, Text(), "The model of logs that name none."] = None
    from_path: Annotated[tuple[str, ...], _TEXTS, "Patterns that take names from the path."] = ()
    mapping: Annotated[
        Mapping[str, str],
        NamedTables(Text(), Text()),
        'Where chat transcripts have a field: messages = ".request.messages".',
        Key("map"),
    ] = {}
    silent_after: Annotated[float | None, Number(0), "Days without new data that are too many; 0: never."] = (
        2.0
    )


class LoadSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The options of `callgauge ingest`."""

    tools: Annotated[
        tuple[Path, ...], _list_of(FileText()), "Files with tool definitions, for logs that carry none."
    ] = ()
    labels: Annotated[Path | None, FileText(), "A file of names for prompts."] = None
    workers: Annotated[int | None, Number(1, 64, is_whole=True), "Processes that read."] = None
    on: Annotated[str | None, Text(), "Read on a Ray cluster: ray, or ray://HOST:PORT."] = None
    shared: Annotated[
        str | None, PlaceText(), "With on: a folder or address that all its machines reach, for rows."
    ] = None
    max_line: Annotated[int | None, Number(1024, is_whole=True), "The longest line to read, in bytes."] = None
    since: Annotated[str | None, _MOMENT, "Only files changed since: 2026-11-20, 12h, 7d, 2w."] = None
    replace: Annotated[bool, Flag(), "Remove sessions that changed files no longer contain."] = False
    redact: Annotated[bool, Flag(), "Replace secrets, e-mail addresses and home folders."] = False
    redact_config: Annotated[Path | None, FileText(), "A file of own patterns; redacts."] = None
    results: Annotated[bool, Flag(), "Store the results of tools."] = True


class RetentionSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The age after which data is deleted.

    If an age is None, this data is never deleted. Daily sums are never deleted.
    """

    text_days: Annotated[int | None, _DAYS, "Arguments, messages and results go after so many days."] = None
    fact_days: Annotated[
        int | None, _DAYS, "Calls, turns and sessions go after so many days; daily sums stay."
    ] = None


class BackupSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The location of backups (an absolute folder, or s3://…), and how many backups are kept.

    If there is no location, no backup is made.
    """

    to: Annotated[
        str | None,
        PlaceText(),
        "A folder, or an address such as s3://bucket/callgauge.",
        Key("to", is_required=True),
    ] = None
    keep: Annotated[int, Number(1, 1000, is_whole=True), "How many backups are kept."] = 7


class WebhookSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A webhook for the report.

    `url_variable` names the environment variable that contains the webhook's secret address.
    """

    kind: Annotated[WebhookKind, Choice(get_args(WebhookKind)), "What the address understands."] = "json"
    url_variable: Annotated[str, _VARIABLE, "env:NAME, the variable with the address.", Key("url")]


class EmailSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A mail server and the recipients of the report.

    If `password_variable` is None, no sign-in is used.
    """

    host: Annotated[str, Text(), "The mail server."]
    port: Annotated[int, _PORT, "Its port."] = 587
    security: Annotated[MailSecurity, Choice(get_args(MailSecurity)), "How the connection is secured."] = (
        "starttls"
    )
    user: Annotated[str | None, Text(), "The name to sign in with; none without it."] = None
    password_variable: Annotated[
        str | None, _VARIABLE, "env:NAME, the variable with the password.", Key("password")
    ] = None
    sender: Annotated[str, Text(), "The address it comes from.", Key("from", is_required=True)] = ""
    to: Annotated[tuple[str, ...], _TEXTS, "The addresses it goes to.", Key("to", is_required=True)] = ()


class ReportSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the morning report contains and where it is sent."""

    address: Annotated[str | None, Address(), "Where people reach the dashboard, for links."] = None
    folder: Annotated[
        Path | None, FileText(), "Where reports are written; reports/ in the store without it."
    ] = None
    quiet: Annotated[bool, Flag(), "Send nothing when nothing changed."] = False
    webhooks: Annotated[
        tuple[WebhookSettings, ...],
        ListOf(declare_table(WebhookSettings), fewest=0),
        "Where it is sent, [[report.webhooks]].",
    ] = ()
    email: Annotated[EmailSettings | None, declare_table(EmailSettings), "Who gets it by mail."] = None


class ServeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The address on which the dashboard listens, and what the dashboard shows."""

    address: Annotated[str, Text(), "Where to listen; 0.0.0.0 lets the network in."] = "127.0.0.1"
    port: Annotated[int, _PORT, "The port."] = 8501
    workers: Annotated[
        int, Number(1, 64, is_whole=True), "Processes that run pages; more than one uses more cores."
    ] = 1
    hosts: Annotated[
        tuple[str, ...], _TEXTS, "Host names that browsers may use in addition to localhost."
    ] = ()
    embed_in: Annotated[tuple[str, ...], _TEXTS, "Sites whose pages may show it in a frame."] = ()
    texts: Annotated[bool, Flag(), "Show arguments, messages and results; else rates and codes only."] = True
    healthy_hours: Annotated[
        float, Number(0, 24 * 366, is_above=True), "How old the newest load may be for /healthz, in hours."
    ] = 26.0
    traces: Annotated[
        Path | None, FileText(), "A folder for the traces that programs send to /v1/traces."
    ] = None


class SignInSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Who may see the dashboard, and in which role.

    With the methods `password` and `link`, the users file lists who may sign in. Everybody is a viewer,
    except the admins.
    """

    method: Annotated[
        SignInMethod,
        Choice(get_args(SignInMethod)),
        "How people sign in.",
        Key("method", is_required=True),
    ] = "none"
    address: Annotated[
        str | None, Address(), "Where browsers reach the dashboard; needed behind a proxy with https."
    ] = None
    hours: Annotated[float, Number(0, 24 * 31, is_above=True), "How long a sign-in lasts."] = 12.0
    domains: Annotated[
        tuple[str, ...], _list_of(_DOMAIN), "Domains of e-mail addresses that may come in."
    ] = ()
    users: Annotated[tuple[str, ...], _TEXTS, "E-mail addresses that may come in."] = ()
    groups: Annotated[tuple[str, ...], _TEXTS, "Groups of the provider that may come in."] = ()
    admins: Annotated[tuple[str, ...], _TEXTS, "E-mail addresses of admins."] = ()
    admin_groups: Annotated[tuple[str, ...], _TEXTS, "Groups whose members are admins."] = ()
    secret_variable: Annotated[
        str, _VARIABLE, "env:NAME, the variable that signs the cookies.", Key("secret")
    ] = "CALLGAUGE_SECRET"  # noqa: S105 - its name
    issuer: Annotated[str | None, Address(), "OIDC: the provider's address."] = None
    client_id: Annotated[str | None, Text(), "OIDC: this dashboard's id there."] = None
    client_secret_variable: Annotated[str, _VARIABLE, "OIDC: env:NAME.", Key("client_secret")] = (
        "CALLGAUGE_CLIENT_SECRET"  # noqa: S105 - its name
    )
    user_header: Annotated[str, Text(), "header: where the proxy names the user."] = "X-Forwarded-Email"
    groups_header: Annotated[str | None, Text(), "header: where it names the groups."] = "X-Forwarded-Groups"
    proxies: Annotated[
        tuple[str, ...] | None,
        _TEXTS,
        "Addresses of your proxies: only their X-Forwarded-For counts. header: 127.0.0.1 and ::1 without it.",
    ] = None
    password_file: Annotated[
        Path | None, FileText(), "password, link: the file of users; that of the store without it."
    ] = None

    @property
    def trusted_proxies(self) -> tuple[str, ...]:
        """The trusted proxies.

        If the method is `header` and the file names no proxy, proxies on this machine are trusted.
        """
        if self.proxies is not None:
            return self.proxies
        return ("127.0.0.1", "::1") if self.method == "header" else ()


class Configuration(msgspec.Struct, frozen=True, kw_only=True):
    """All settings of callgauge.toml.

    `path` is the path of the file. `aliases` maps model names in logs to the names to show.
    """

    path: Path
    store: Annotated[Path, FileText(), "The store's folder."]
    sources: Annotated[
        tuple[SourceSettings, ...],
        NamedTables(declare_table(SourceSettings), _NAME),
        "Where logs come from, [sources.NAME].",
    ] = ()
    load: Annotated[LoadSettings, declare_table(LoadSettings), "How logs are loaded."] = msgspec.field(
        default_factory=LoadSettings
    )
    aliases: Annotated[
        Mapping[str, str], NamedTables(Text(), Text()), "Models, each by a name that logs have for it."
    ] = {}
    retention: Annotated[RetentionSettings, declare_table(RetentionSettings), "When data goes."] = (
        msgspec.field(default_factory=RetentionSettings)
    )
    backup: Annotated[BackupSettings, declare_table(BackupSettings), "Where backups go."] = msgspec.field(
        default_factory=BackupSettings
    )
    report: Annotated[ReportSettings, declare_table(ReportSettings), "The morning report."] = msgspec.field(
        default_factory=ReportSettings
    )
    serve: Annotated[ServeSettings, declare_table(ServeSettings), "Where the dashboard listens."] = (
        msgspec.field(default_factory=ServeSettings)
    )
    sign_in: Annotated[SignInSettings, declare_table(SignInSettings), "Who may see the dashboard."] = (
        msgspec.field(default_factory=SignInSettings)
    )
