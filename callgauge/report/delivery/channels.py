"""Lists the channels that callgauge.toml configures, each with the message that it sends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256

from callgauge.configuration.settings import EmailSettings, ReportSettings, WebhookSettings
from callgauge.report.content.morning_report import MorningReport
from callgauge.report.delivery.attempts import Channel, SendError
from callgauge.report.delivery.mail_server import send_email
from callgauge.report.delivery.webhooks import MESSAGES, post_message
from callgauge.report.formats.email_message import EmailAddressError, make_email, write_plain_text
from ingest.version import install_command


def list_channels(
    settings: ReportSettings, report: MorningReport, environment: Mapping[str, str]
) -> Iterator[Channel]:
    """Yield each channel once, with the channel's secrets from the environment.

    A channel is named after the environment variable that holds its secret address. The name must stay the
    same, because it is how a later attempt knows whether the channel already has the report.
    """
    for hook in dict.fromkeys(settings.webhooks):
        name = f"{hook.kind} ({hook.url_variable})"
        yield Channel(name, partial(_post, hook, report, environment))
    if settings.email is not None:
        mail = settings.email
        people = sha256("\n".join(sorted(mail.to)).encode(errors="replace")).hexdigest()[:8]
        yield Channel(f"email ({mail.host}, {people})", partial(_mail, mail, report, environment))


def _post(hook: WebhookSettings, report: MorningReport, environment: Mapping[str, str]) -> str:
    address = _read_secret(hook.url_variable, environment)
    if hook.kind == "apprise":
        return _post_by_apprise(address, report)
    return post_message(address, MESSAGES[hook.kind](report))


def _post_by_apprise(address: str, report: MorningReport) -> str:
    """Send one plain-text message to an Apprise address, and return the service's name.

    Apprise does not say why sending failed, so the message may have arrived. To avoid a second message, a
    failed attempt counts as *unknown* and is not repeated. Raises SendError.
    """
    try:
        import apprise
    except ModuleNotFoundError:
        raise SendError(f"it needs the package apprise: {install_command('apprise')}") from None
    # Store nothing on disk, and load no plugin from the user's home folder.
    asset = apprise.AppriseAsset(
        storage_mode=apprise.PersistentStoreMode.MEMORY, plugin_paths=[], async_mode=False
    )
    service = apprise.Apprise.instantiate(address, asset=asset)
    if service is None:
        raise SendError("Apprise does not support its address; see https://appriseit.com/services/")
    # These settings override the address: no retry, and no second message when the text is too long for one
    # message.
    service.retry = 0
    service.overflow_mode = apprise.OverflowMode.TRUNCATE
    services = apprise.Apprise(service, asset=asset)
    text = write_plain_text(report, for_chats=True)
    if not services.notify(text, title=report.title, body_format=apprise.NotifyFormat.TEXT):
        raise SendError(f"{service.service_name} did not confirm that it took the message", is_lost=True)
    return f"{service.service_name} took it"


def _mail(mail: EmailSettings, report: MorningReport, environment: Mapping[str, str]) -> str:
    password = _read_secret(mail.password_variable, environment) if mail.password_variable else None
    try:
        message = make_email(report, mail.sender, mail.to)
    except EmailAddressError as problem:
        raise SendError(str(problem)) from None
    return send_email(mail, message, password)


def _read_secret(variable: str, environment: Mapping[str, str]) -> str:
    secret = environment.get(variable, "").strip()
    if not secret:
        raise SendError(f"the variable {variable} is not set")
    return secret
