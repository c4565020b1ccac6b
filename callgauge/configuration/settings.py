"""What callgauge.toml says, as plain data: one class for each of its tables. Paths are absolute.

No secret stands in the file: a field that ends with `_variable` names an environment variable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

SignInMethod = Literal["none", "password", "link", "header", "oidc"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings:
    """Logs that belong together, such as those of one gateway.

    `paths` and `manifests` are those of `callgauge ingest`, absolute or an address. `silent_after`: days
    without new data after which the source is overdue; None never.
    """

    name: str
    paths: tuple[str, ...] = ()
    manifests: tuple[str, ...] = ()
    log_format: str | None = None
    model: str | None = None
    from_path: tuple[str, ...] = ()
    silent_after: float | None = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSettings:
    """How logs are loaded: the options of `callgauge ingest`."""

    tools: tuple[Path, ...] = ()
    labels: Path | None = None
    workers: int | None = None
    on: str | None = None
    shared: str | None = None
    max_line: int | None = None
    since: str | None = None
    replace: bool = False
    redact: bool = False
    redact_config: Path | None = None
    results: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSettings:
    """After how many days something goes; None keeps it. Daily sums stay for ever.

    `text_days`: arguments, messages, results. `fact_days`: calls, turns, sessions.
    """

    text_days: int | None = None
    fact_days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupSettings:
    """Where backups go (an absolute folder, or s3://…) and how many are kept; no backup without a place."""

    to: str | None = None
    keep: int = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    """A webhook that takes the report. `url_variable` holds its address, which is a secret by itself."""

    kind: Literal["slack", "teams", "discord", "json", "apprise"]
    url_variable: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EmailSettings:
    """A mail server and whom the report is sent to. `password_variable` None: no sign-in to the server."""

    host: str
    port: int = 587
    security: Literal["starttls", "tls", "none"] = "starttls"
    user: str | None = None
    password_variable: str | None = None
    sender: str = ""
    to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings:
    """The morning report. `folder`: where it is written, that of the store without one.

    `address`: where people reach the dashboard, for links. `quiet`: nothing is sent on quiet days.
    """

    address: str | None = None
    folder: Path | None = None
    quiet: bool = False
    webhooks: tuple[WebhookSettings, ...] = ()
    email: EmailSettings | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInSettings:
    """Who may see the dashboard, and as what.

    `domains`, `users`, `groups`: who may come in, by e-mail address, its domain, or a group of the provider;
    with the methods `password` and `link` the file of users says it. `admins`, `admin_groups`: who is an
    admin; all others are viewers. `hours`: how long a sign-in lasts. `address`: where browsers reach the
    dashboard, where a proxy speaks https for it.
    """

    method: SignInMethod = "none"
    address: str | None = None
    hours: float = 12.0
    domains: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    admins: tuple[str, ...] = ()
    admin_groups: tuple[str, ...] = ()
    secret_variable: str = "CALLGAUGE_SECRET"  # noqa: S105 - its name
    issuer: str | None = None
    client_id: str | None = None
    client_secret_variable: str = "CALLGAUGE_CLIENT_SECRET"  # noqa: S105 - its name
    user_header: str = "X-Forwarded-Email"
    groups_header: str | None = "X-Forwarded-Groups"
    proxies: tuple[str, ...] = ("127.0.0.1", "::1")
    password_file: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """Where the dashboard listens, and what it shows: with `texts` False only rates and codes.

    `healthy_hours`: how old the newest load may be before `/healthz` says that something is wrong.
    """

    address: str = "127.0.0.1"
    port: int = 8501
    hosts: tuple[str, ...] = ()
    embed_in: tuple[str, ...] = ()
    texts: bool = True
    healthy_hours: float = 26.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """All of callgauge.toml. `path`: the file itself. `aliases`: the model's name by a name in the logs."""

    path: Path
    store: Path
    sources: tuple[SourceSettings, ...] = ()
    load: LoadSettings = field(default_factory=LoadSettings)
    aliases: Mapping[str, str] = field(default_factory=dict)
    retention: RetentionSettings = field(default_factory=RetentionSettings)
    backup: BackupSettings = field(default_factory=BackupSettings)
    report: ReportSettings = field(default_factory=ReportSettings)
    serve: ServeSettings = field(default_factory=ServeSettings)
    sign_in: SignInSettings = field(default_factory=SignInSettings)
