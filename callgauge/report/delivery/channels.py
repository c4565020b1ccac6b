"""The channels of a configuration, each with what it is sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import sha256

from callgauge.configuration.settings import EmailSettings, ReportSettings, WebhookSettings
from callgauge.report.content.morning_report import MorningReport
from callgauge.report.delivery.apprise_services import post_by_apprise
from callgauge.report.delivery.attempts import Channel, SendError
from callgauge.report.delivery.mail_server import send_email
from callgauge.report.delivery.webhooks import MESSAGES, post_message
from callgauge.report.formats.email_message import EmailAddressError, make_email


def list_channels(
    settings: ReportSettings, report: MorningReport, environment: Mapping[str, str]
) -> Iterator[Channel]:
    """Yield each channel once, with the secrets that the environment holds.

    Its name has the variable of the address, not the address: by it a later run knows that it was served.
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
        return post_by_apprise(address, report)
    return post_message(address, MESSAGES[hook.kind](report))


def _mail(mail: EmailSettings, report: MorningReport, environment: Mapping[str, str]) -> str:
    password = _read_secret(mail.password_variable, environment) if mail.password_variable else None
    try:
        message = make_email(report, mail.sender, mail.to)
    except EmailAddressError as problem:
        raise SendError(str(problem)) from None
    return send_email(mail, message, password)


def _read_secret(variable: str, environment: Mapping[str, str]) -> str:
    told = environment.get(variable, "").strip()
    if not told:
        raise SendError(f"the variable {variable} is not set")
    return told
