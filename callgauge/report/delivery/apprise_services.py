"""Sends the report by Apprise, which knows some 150 services by their addresses: https://appriseit.com.

Apprise says whether a service took a message, and not why it did not: a refused message and one whose answer
was lost look the same. So a failed attempt is *unknown*, and is not repeated.
"""

from __future__ import annotations

from callgauge.report.content.morning_report import MorningReport
from callgauge.report.delivery.attempts import SendError
from callgauge.report.formats.email_message import write_plain_text


def post_by_apprise(address: str, report: MorningReport) -> str:
    """Send one message of plain text to an address of Apprise, and return the service's name.

    Raises SendError.
    """
    try:
        import apprise
    except ModuleNotFoundError:
        raise SendError("it needs the package apprise: pip install 'callgauge[apprise]'") from None
    # Nothing is kept on disk, and no plugin is read from the home of the user.
    asset = apprise.AppriseAsset(
        storage_mode=apprise.PersistentStoreMode.MEMORY, plugin_paths=[], async_mode=False
    )
    service = apprise.Apprise.instantiate(address, asset=asset)
    if service is None:
        raise SendError("its address is none that Apprise knows: see https://appriseit.com/services/")
    # Whatever the address says: no second attempt, and no second message for what does not fit into one.
    service.retry = 0
    service.overflow_mode = apprise.OverflowMode.TRUNCATE
    services = apprise.Apprise(service, asset=asset)
    text = write_plain_text(report, for_chats=True)
    if not services.notify(text, title=report.title, body_format=apprise.NotifyFormat.TEXT):
        raise SendError(f"{service.service_name} did not confirm that it took the message", is_lost=True)
    return f"{service.service_name} took it"
