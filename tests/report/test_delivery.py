"""Tests that a report reaches each channel even if servers fail, and reaches no channel twice."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Mapping
from contextlib import ExitStack
from datetime import UTC, date, datetime
from pathlib import Path

import apprise
import pytest
from msgspec.structs import replace

from callgauge.configuration.settings import (
    Configuration,
    EmailSettings,
    ReportSettings,
    ServeSettings,
    WebhookSettings,
)
from callgauge.memory.deliveries import LONGEST, DeliveryRecords
from callgauge.memory.memory_file import FILE, MemoryFile
from callgauge.memory.reports import ReportRecords
from callgauge.report.content.morning_report import MorningReport, ReportError
from callgauge.report.delivery import attempts, mail_server, webhooks
from callgauge.report.delivery.attempts import DeliveryResult, deliver
from callgauge.report.delivery.channels import list_channels
from callgauge.report.nightly_report import NightlyReport, send_nightly_report
from tests.report.conftest import LAST, SINCE
from tests.report.servers import HttpAct, SmtpAct, serve_mail, serve_webhook

HOOK = WebhookSettings(kind="slack", url_variable="HOOK")
MAIL = EmailSettings(
    host="127.0.0.1", security="none", sender="gauge@example.com", to=("a@example.com", "b@example.com")
)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (webhooks, mail_server):
        monkeypatch.setattr(module, "TIMEOUT", 0.3)
    monkeypatch.setattr(attempts, "LONGEST_ATTEMPT", 1.0)


class Sender:
    """Sends one report to several channels, and records the waiting times between attempts."""

    def __init__(self, report: MorningReport, folder: Path) -> None:
        self.report = report
        self.records = DeliveryRecords(folder)
        self.waits: list[float] = []

    def send(self, settings: ReportSettings, environment: Mapping[str, str]) -> list[DeliveryResult]:
        channels = list_channels(settings, self.report, environment)
        return [deliver(self.records, "2026-11-20", channel, self.waits.append) for channel in channels]

    def post(self, address: str) -> DeliveryResult:
        (result,) = self.send(ReportSettings(webhooks=(HOOK,)), {"HOOK": address})
        return result

    def mail(self, port: int, settings: EmailSettings = MAIL) -> DeliveryResult:
        (result,) = self.send(ReportSettings(email=replace(settings, port=port)), {"PASSWORD": "S3CRET"})
        return result


@pytest.fixture
def sender(report: MorningReport, tmp_path: Path) -> Sender:
    return Sender(report, tmp_path)


@pytest.mark.thorough(quick=2)
@pytest.mark.parametrize("kind", ["slack", "teams", "discord", "json"])
def test_a_webhook_gets_what_its_kind_takes(sender: Sender, kind: str) -> None:
    hook = WebhookSettings(kind=kind, url_variable="HOOK")  # type: ignore[arg-type]
    with serve_webhook(200) as place:
        (result,) = sender.send(ReportSettings(webhooks=(hook, hook)), {"HOOK": place.address})
    assert result == DeliveryResult(f"{kind} (HOOK)", "sent", "answered 200")
    ((path, body),) = place.got
    assert path == "/hooks/T0PSECRET?token=S3CRET"
    first = {"slack": "text", "teams": "type", "discord": "embeds", "json": "version"}[kind]
    assert next(iter(json.loads(body))) == first


def test_what_was_sent_is_not_sent_again(sender: Sender) -> None:
    with serve_webhook(200) as place:
        assert sender.post(place.address).result == "sent"
        assert sender.post(place.address).result == "sent before"
    assert len(place.got) == 1


@pytest.mark.parametrize(
    ("acts", "result", "requests", "waits"),
    [
        ((503, 500, 200), "sent", 3, [2.0, 8.0]),
        (((429, {"Retry-After": "7"}), 200), "sent", 2, [7.0]),
        (((429, {"Retry-After": "3600"}), 200), "failed", 1, []),
        ((500,), "failed", 4, [2.0, 8.0, 30.0]),
        ((404, 200), "failed", 1, []),
        (((302, {"Location": "http://127.0.0.1:9/"}), 200), "failed", 1, []),
        ((504, 200), "unknown", 1, []),
        (("close", 200), "unknown", 1, []),
        (("hang", 200), "unknown", 1, []),
        (("dribble", 200), "unknown", 1, []),
    ],
)
def test_a_server_on_a_bad_day(
    sender: Sender, acts: tuple[HttpAct, ...], result: str, requests: int, waits: list[float]
) -> None:
    with serve_webhook(*acts) as place:
        delivery = sender.post(place.address)
        assert (delivery.result, len(place.got), sender.waits) == (result, requests, waits)
        # A report that may have arrived is not sent again. A report that surely failed is sent again.
        again = sender.post(place.address).result
        assert (len(place.got) > requests) is (result == "failed")
        assert result == "failed" or again == {"sent": "sent before", "unknown": "unknown"}[result]


@pytest.fixture(scope="module")
def _loaded_apprise() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # apprise loads all its services here, which takes a second
        apprise.Apprise.instantiate("json://example.com")


@pytest.mark.usefixtures("_loaded_apprise")
@pytest.mark.parametrize(
    ("act", "query", "result"),
    [
        (200, "", "sent"),
        (500, "", "unknown"),
        (500, "?retry=3&wait=0", "unknown"),
        (404, "", "unknown"),
        ("close", "", "unknown"),
        ("hang", "?rto=0.2", "unknown"),
    ],
)
def test_apprise_sends_once_and_repeats_nothing(
    sender: Sender, act: HttpAct, query: str, result: str
) -> None:
    settings = ReportSettings(webhooks=(WebhookSettings(kind="apprise", url_variable="HOOK"),))
    with serve_webhook(act) as place:
        address = f"json://{place.address.removeprefix('http://').partition('/')[0]}/S3CRET{query}"
        (delivery,) = sender.send(settings, {"HOOK": address})
        (again,) = sender.send(settings, {"HOOK": address})
    assert (delivery.result, len(place.got), sender.waits) == (result, 1, [])
    assert again.result == {"sent": "sent before", "unknown": "unknown"}[result]
    assert "S3CRET" not in delivery.reason
    sent = json.loads(place.got[0][1])
    assert sent["title"] == sender.report.title
    assert sender.report.sentences[0].text in sent["message"]


@pytest.mark.usefixtures("_loaded_apprise")
def test_an_address_that_apprise_does_not_know_is_told_without_it(sender: Sender) -> None:
    settings = ReportSettings(webhooks=(WebhookSettings(kind="apprise", url_variable="HOOK"),))
    (delivery,) = sender.send(settings, {"HOOK": "nonsense://S3CRET"})
    assert delivery.result == "failed"
    assert delivery.reason.startswith("Apprise does not support its address")


def test_a_place_that_nobody_listens_on_is_tried_four_times(sender: Sender) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    delivery = sender.post(f"http://127.0.0.1:{port}/x")
    assert (delivery.result, len(sender.waits)) == ("failed", 3)
    assert delivery.reason == "not reached: Connection refused"


@pytest.mark.parametrize(
    "address", ["", "  ", "file:///etc/passwd", "ftp://x/y", "http://", "http://[x", "http://a b/"]
)
def test_what_is_no_address_is_told_without_it(sender: Sender, address: str) -> None:
    delivery = sender.post(address)
    assert delivery.result == "failed"
    assert delivery.reason in (
        "the variable HOOK is not set", "its address is invalid; it needs http:// or https:// and a host",
    )  # fmt: skip


def test_no_secret_is_in_a_message_or_in_the_memory(sender: Sender, tmp_path: Path) -> None:
    with serve_webhook(404) as place:
        reason = sender.post(place.address).reason
    assert reason == "answered 404: no such channel …"
    with serve_mail("refuse") as mail:
        sender.mail(mail.port, replace(MAIL, user="gauge", password_variable="PASSWORD"))  # noqa: S106 - a name
        assert any(line.startswith("AUTH PLAIN") for line in mail.commands)
    memory = (tmp_path / FILE).read_bytes()
    assert b"SECRET" not in memory
    assert b"S3CRET" not in memory


@pytest.mark.parametrize(
    ("acts", "result", "sessions", "messages"),
    [
        (("take",), "sent", 1, 1),
        (("busy", "greylist", "take"), "sent", 3, 1),
        (("close at once", "take"), "sent", 2, 1),
        (("no quit",), "sent", 1, 1),
        (("refuse one",), "sent", 1, 1),
        (("refuse",), "failed", 1, 0),
        (("busy",), "failed", 4, 0),
        (("lose the answer", "take"), "unknown", 1, 1),
    ],
)
def test_a_mail_server_on_good_and_bad_days(
    sender: Sender, acts: tuple[SmtpAct, ...], result: str, sessions: int, messages: int
) -> None:
    with serve_mail(*acts) as place:
        delivery = sender.mail(place.port)
        assert (delivery.result, place.sessions, len(place.got)) == (result, sessions, messages)
        if result != "failed":
            sender.mail(place.port)
            assert place.sessions == sessions
    if acts == ("take",):
        ((people, text),) = place.got
        assert people == ["a@example.com", "b@example.com"]
        assert text.startswith(b"Subject: Callgauge, 20 Nov 2026: 2 things changed\r\n")
        assert delivery.reason == "taken for 2 recipients"
    if acts == ("refuse one",):
        assert delivery.reason == "taken for 1 recipient; refused: b@example.com (550)"


def test_a_server_that_cannot_secure_the_connection_gets_nothing(sender: Sender) -> None:
    with serve_mail("take") as place:
        secured = replace(MAIL, security="starttls", user="x", password_variable="PASSWORD")  # noqa: S106 - a name
        delivery = sender.mail(place.port, secured)
    assert delivery.result == "failed"
    assert "security" in delivery.reason
    assert not place.got
    assert not any(line.startswith("AUTH") for line in place.commands)


def test_a_line_of_one_dot_does_not_end_a_message() -> None:
    assert mail_server._quote(b"a\n.\n..b\r\nc") == b"a\r\n..\r\n...b\r\nc\r\n.\r\n"


def test_two_processes_at_once_send_once(sender: Sender) -> None:
    deliveries: list[str] = []
    with serve_webhook(200) as place:
        workers = [
            threading.Thread(target=lambda: deliveries.append(sender.post(place.address).result))
            for _ in range(6)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert len(place.got) == 1
    assert deliveries.count("sent") == 1
    assert set(deliveries) <= {"sent", "sent before", "sent by another"}


_KILLED = """
import os, signal, sys, threading
from pathlib import Path
from callgauge.memory.deliveries import DeliveryRecords
from callgauge.report.delivery.attempts import Channel, SendError, deliver
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
def refuse(): raise SendError("busy", may_retry=True)
send, sleep = (die, None) if sys.argv[2] == "sending" else (refuse, die)
deliver(DeliveryRecords(Path(sys.argv[1])), "2026-11-20", Channel("slack (HOOK)", send), sleep)
"""


@pytest.mark.parametrize(("when", "result"), [("sending", "unknown"), ("waiting", "sent")])
def test_a_process_that_was_killed_sends_no_report_twice(
    sender: Sender, tmp_path: Path, when: str, result: str
) -> None:
    died = subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path), when], check=False)
    assert died.returncode == -9
    with serve_webhook(200) as place:
        # the other process may still be sending the report
        assert sender.post(place.address).result == "sent by another"
        MemoryFile(tmp_path).write(
            (
                "UPDATE deliveries SET at = ?",
                [((datetime.now(UTC) - LONGEST * 2).isoformat(timespec="seconds"),)],
            )
        )
        assert sender.post(place.address).result == result
        assert len(place.got) == (result == "sent")


def nightly(
    store: Path, night: date, settings: ReportSettings, environment: Mapping[str, str]
) -> NightlyReport:
    configuration = Configuration(path=store.parent / "callgauge.toml", store=store, report=settings)
    return send_nightly_report(
        configuration, night, environment=environment, sleep=lambda _: None, since=date(2026, 11, 18)
    )


@pytest.mark.parametrize("texts", [True, False])
def test_a_store_that_shows_no_texts_sends_none(store: Path, texts: bool) -> None:
    with serve_webhook(200) as hook:
        configuration = Configuration(
            path=store.parent / "callgauge.toml",
            store=store,
            serve=ServeSettings(texts=texts),
            report=ReportSettings(webhooks=(replace(HOOK, kind="json"),)),
        )
        made = send_nightly_report(
            configuration, LAST, environment={"HOOK": hook.address}, since=date(2026, 11, 18)
        )
        assert [delivery.result for delivery in made.deliveries] == ["sent"]
        sent = repr(hook.got)
    assert ("img src" in sent, "img src" in made.file.read_text("utf-8")) == (texts, texts)
    assert any(item.kind == "error" for item in made.report.sentences)


def test_a_night_is_written_and_sent_to_every_channel_once(store: Path) -> None:
    with ExitStack() as stack:
        hook, mail = stack.enter_context(serve_webhook(200)), stack.enter_context(serve_mail("take"))
        settings = ReportSettings(webhooks=(HOOK,), email=replace(MAIL, port=mail.port))
        for results in (["sent", "sent"], ["sent before", "sent before"]):
            made = nightly(store, LAST, settings, {"HOOK": hook.address})
            assert [delivery.result for delivery in made.deliveries] == results
            assert not made.problem
        assert (len(hook.got), len(mail.got)) == (1, 1)
    assert made.file == store / "reports" / "2026-11-20.html"
    assert json.loads(made.file.with_suffix(".json").read_text("utf-8"))["night"] == "2026-11-20"
    assert made.to_record()["sent"]["slack (HOOK)"] == "sent before"


def test_a_quiet_night_is_written_and_not_sent(store: Path) -> None:
    with serve_webhook(200) as place:
        environment = {"HOOK": place.address}
        quiet = nightly(store, date(2026, 11, 18), ReportSettings(webhooks=(HOOK,), quiet=True), environment)
        assert quiet.report.is_quiet
        assert quiet.file.exists()
        assert not place.got
        loud = nightly(store, LAST, ReportSettings(webhooks=(HOOK,), quiet=True), environment)
        assert [delivery.result for delivery in loud.deliveries] == ["sent"]


@pytest.mark.thorough
def test_what_reached_nobody_is_new_again(store: Path) -> None:
    with serve_webhook(404) as place:
        made = nightly(store, LAST, ReportSettings(webhooks=(HOOK,)), {"HOOK": place.address})
    assert made.problem == "slack (HOOK) failed: answered 404: no such channel …"
    assert ReportRecords(store).read_last_before(date(2026, 11, 21)) is None
    with serve_webhook(200) as place:
        nightly(store, LAST, ReportSettings(webhooks=(HOOK,)), {"HOOK": place.address})
    last = ReportRecords(store).read_last_before(date(2026, 11, 21))
    assert last is not None
    assert last.keys == made.report.keys
    assert last.night > SINCE


def test_a_folder_that_cannot_be_written_is_told(store: Path) -> None:
    (store / "reports").write_text("in the way")
    with pytest.raises(ReportError, match="name another as"):
        nightly(store, LAST, ReportSettings(), {})
