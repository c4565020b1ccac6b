"""Sends the report to a mail server (SMTP), step by step, to know which step failed."""

from __future__ import annotations

import re
import smtplib
import ssl
from collections.abc import Mapping
from contextlib import suppress
from email.message import EmailMessage

from callgauge.analysis import wording
from callgauge.configuration.settings import EmailSettings
from callgauge.report.delivery.attempts import SendError

TIMEOUT = 15.0
"""Timeout in seconds for the connection and for each read."""
_GO_ON, _DONE = 354, 250
_TEMPORARY = range(400, 500)


def send_email(settings: EmailSettings, message: EmailMessage, password: str | None) -> str:
    """Send a message and return in words how many recipients the server accepted. Raises SendError.

    The result names the recipients that the server rejected. The other recipients get the message. If the
    connection is not as secure as `security` requires, neither message nor password is sent.
    """
    try:
        server = _connect(settings)
        try:
            return _hand_over(server, settings, message, password)
        finally:
            _leave(server)
    except smtplib.SMTPAuthenticationError as refused:
        raise SendError(f"the sign-in failed ({refused.smtp_code}): check user and password") from None
    except smtplib.SMTPResponseException as refused:
        raise _describe_refusal(refused.smtp_code, refused.smtp_error) from None
    except smtplib.SMTPNotSupportedError as lacking:
        raise SendError(f"the server cannot do what `security` and `user` ask for: {lacking}") from None
    except ssl.SSLCertVerificationError as problem:
        raise SendError(f"its certificate is not trusted: {problem.verify_message}") from None
    except (smtplib.SMTPException, OSError) as problem:
        words = "timed out" if isinstance(problem, TimeoutError) else type(problem).__name__
        detail = problem.strerror if isinstance(problem, OSError) and problem.strerror else words
        raise SendError(f"not reached: {wording.one_line(str(detail), 120)}", may_retry=True) from None


def _connect(settings: EmailSettings) -> smtplib.SMTP:
    if settings.security == "tls":
        return smtplib.SMTP_SSL(
            settings.host, settings.port, timeout=TIMEOUT, context=ssl.create_default_context()
        )
    return smtplib.SMTP(settings.host, settings.port, timeout=TIMEOUT)


def _leave(server: smtplib.SMTP) -> None:
    """End the SMTP session. Errors are ignored, because the result is already known."""
    with suppress(smtplib.SMTPException, OSError):
        server.quit()
    server.close()


def _hand_over(
    server: smtplib.SMTP, settings: EmailSettings, message: EmailMessage, password: str | None
) -> str:
    server.ehlo_or_helo_if_needed()
    if settings.security == "starttls":
        server.starttls(context=ssl.create_default_context())
    if settings.user is not None and password is not None:
        server.login(settings.user, password)
    _require(server.mail(_write_path(message["From"])), _DONE)
    refused: dict[str, tuple[int, bytes]] = {}
    people = [address.addr_spec for address in message["To"].addresses]
    for person in people:
        answer = server.rcpt(person)
        if answer[0] not in (_DONE, 251):
            refused[person] = answer
    if len(refused) == len(people):
        raise _describe_refusal(*next(iter(refused.values())))
    _require(server.docmd("DATA"), _GO_ON)
    # If the connection breaks here, the server discards the incomplete message.
    server.send(_quote(message.as_bytes()))
    try:
        _require(server.getreply(), _DONE)
    except smtplib.SMTPResponseException:
        raise
    except (smtplib.SMTPException, OSError):
        raise SendError("sent, but the server's answer was lost", is_lost=True) from None
    return _describe_taken(len(people), refused)


def _require(answer: tuple[int, bytes], code: int) -> None:
    if answer[0] != code:
        raise smtplib.SMTPResponseException(*answer)


def _write_path(header: object) -> str:
    (address,) = header.addresses  # type: ignore[attr-defined]
    return str(address.addr_spec)


def _quote(data: bytes) -> bytes:
    """Return a message encoded for DATA (RFC 5321).

    A dot at the start of a line is doubled, because a line with a single dot ends the message.
    """
    lines = re.sub(rb"(?m)^\.", b"..", re.sub(rb"(?:\r\n|\n|\r(?!\n))", b"\r\n", data))
    return lines + (b"" if lines.endswith(b"\r\n") else b"\r\n") + b".\r\n"


def _describe_taken(people: int, refused: Mapping[str, tuple[int, bytes]]) -> str:
    accepted = f"taken for {wording.plural(people - len(refused), 'recipient')}"
    if not refused:
        return accepted
    named = ", ".join(f"{wording.one_line(name, 80)} ({code})" for name, (code, _) in refused.items())
    return f"{accepted}; refused: {named}"


def _describe_refusal(code: int, reply: bytes | str) -> SendError:
    words = reply.decode("utf-8", "replace") if isinstance(reply, bytes) else reply
    return SendError(f"answered {code}: {wording.one_line(words, 120)}", may_retry=code in _TEMPORARY)
