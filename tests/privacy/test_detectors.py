"""Tests redaction with one line for each kind of value."""

from __future__ import annotations

import time

import pytest

from ingest.privacy.redactor import Redactor
from ingest.privacy.rules import RedactionRules

KEY = b"the key of a store"
REDACTOR = Redactor(RedactionRules(), KEY)

# Redaction replaces the value between the marks. The text around the marks stays.
FOUND = [
    "mail <<alice.smith@example.com>> now",
    "<<jürgen.müller@example.org>>",
    r'{"to": "hi\n<<alice@example.org>>"}',
    r'{"to": "hi\\n<<alice@example.org>>", "q": "\"x\""}',
    "/home/<<alice>>/project",
    "file:///Users/<<alice>>/project",
    r"C:\Users\<<nina smith>>\Desktop",
    r'{"path": "C:\\Users\\<<nina>>\\x"}',
    "/home/x/.claude/projects/-Users-<<alice>>-code/1.jsonl".replace("/home/x", "/root"),
    "export OPENAI_API_KEY=<<sk-proj-abcdefgh1234567890ABCDEFGHIJ>>",
    "x-api-key: <<sk-ant-api03-abcdefghijklmnopqrstuvwx>>",
    "<<ghp_abcdefghijklmnopqrstuvwxyz0123456789>>",
    "<<github_pat_11ABCDEFG0abcdefghijkl_mnop>>",
    "<<glpat-abcdefghij1234567890>>",
    "id <<AKIAIOSFODNN7EXAMPLE>>",
    "<<AIzaSyA1234567890abcdefghijklmnopqrstuv>>",
    "<<hf_abcdefghijklmnopqrstuvwxyzABCDEFGH>>",
    "<<xoxb-123456789012-123456789012-abcdefghijklmnop>>",
    "https://hooks.slack.com/services/<<T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX>>",
    "Bearer <<abcdefghijklmnop.1234>>",
    "https://bob:<<s3cr3t>>@host.io/x",
    r"https:\/\/bob:<<s3cr3t>>@host.io\/x",
    "bot <<110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1>>",
    "<<MZ1yGvKTjE0rY0cV8i47CjAa.uRHQPq.Xb1Mk2nEhe-4iUcrGOuegj57zMC>>",
    "<<0123456789abcdef0123456789abcdef-us12>>",
    "//npm.example.com/:_authToken=<<abcdef0123456789abcdef>>",
    '{"password": "<<hunter2>>", "limit": 5}',
    '{"password": "<<correct horse, battery>>"}',
    '{"password": "<<hunter2, >>"limit": 5}',
    '{"password": "<<hunter2>>',
    r'{\"db_password\": \"<<hunter2>>\", \"limit\": 5}',
    "{'client-secret': '<<hunter2>>'}",
    "DB_PASSWORD=<<correct1horse>> ./run",
    "password: <<12345a678>>, limit: 5",
    r"-----BEGIN EC PRIVATE KEY-----<<\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWy\n>>-----END EC PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----<<\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AH>>",
]  # fmt: skip

LEFT_ALONE = [
    "git@github.com:org/repo.git",
    "npm install left-pad@1.3.0 @types/node@latest",
    "@pytest.fixture def test_something_rather_long_with_a_name(): ...",
    "task-management-system-overview-2024",
    '"password": {"type": "string"}',
    '{"password": "string", "secret": "${SECRET}", "api_key": "<your key>", "token": "********"}',
    "password = os.environ['PASSWORD']; secret = getpass.getpass()",
    "PWD=/srv/app OLDPWD=/srv",
    "max_tokens: 4096, key: value1234, monkey: banana12",
    "the password is checked, the secret: must not be shown",
    "/home/$USER/x /Users/Shared/x /home/../x ls /home/",
    "commit 3f786850e387550fdab836ed7e6dc881de23001b",
    "nursing-home-care and --home-dir",
    "github.com/posthog-go@v1.9.0\ngithub.com/spf13/cobra v2@v2.0.7\ngithub.com",
    "56: _token: CancellationToken\n57: ): void {",
    "an API client using the bearer token\ncmd/cli/api_client.go:14",
    "PASS: localhost:8000 -> localhost:8000\nPASS: test_one\n",
    "export GROQ_API_KEY=gsk_...\nexport API_KEY=your_api_key_here",
    "connect(user=user, password=pw, token=args.token)",
    "mkdir -p a/b; ssh -p 2222 host; docker run -u 1000:1000 x; id -u root",
    "4111 1111 1111 1112, 1764000000000, 20251124120000, DE88370400440532013000, v1.2.3-4567",
    'next_page_token: abc12345, "eos_token": "</s>", max_tokens=4096',
    "ruff format packages/tui/test/key-tester.ts",
]

HOSTILE = [
    "eyJ" * 100_000,
    "sk-" * 100_000,
    "glagent-" * 40_000,
    "a@b.cc" * 50_000,
    "://a:b@" * 40_000,
    'password:"' * 30_000,
    '\\"password\\": \\"' * 20_000,
    '"password": "' + "a" * 300_000,
    "softlayerkey" + " " * 300_000,
    "BEGIN PRIVATE KEY" * 20_000,
    "/home/" * 50_000,
    "\\" * 300_000 + "a@b.cc",
    "a" * 300_000,
    "\\u0041" * 50_000,
    "%25" * 100_000,
    "Set-Cookie: a=b; expires=" * 10_000,
    "4111 1111 1111 " * 20_000,
    "DE89 3704 " * 30_000,
    "+1 2" * 70_000,
    "aaaaaaa1\n" * 30_000,
    "token=" * 50_000,
    "curl -u " * 30_000,
    "password is " * 20_000,
    "**password** " * 20_000,
    "| password | " * 20_000,
    "| password |\n|---|\n" * 10_000,
    "<td>password</td><td>" * 10_000,
    '<input type="password" a="b" ' * 8_000,
    'value="abc" name="password' * 8_000,
    "password for (" * 20_000,
    '["a", "-p", ' * 20_000,
    '["' * 100_000 + '"-p',
    "(a, " * 60_000 + '"-p"',
    "- -p\n" * 50_000,
    "identified by password " * 10_000,
    "a:5432:b:c:" * 20_000,
    "密码" * 100_000,
    "password\x1b[0m" * 20_000,
    "\x1b]" * 100_000,
    "12: abc1\n" * 20_000,
    "+abcdefg1\n" * 20_000,
    'setPassword("' * 20_000,
    'password: str = "' * 10_000,
    "password: | \n ! & " * 10_000,
]


def marked(text: str) -> tuple[str, str, int, int]:
    """Return the string without its marks, the marked value, and the position of the value."""
    before, _, rest = text.partition("<<")
    value, _, after = rest.partition(">>")
    return before + value + after, value, len(before), len(before) + len(value)


@pytest.mark.parametrize("text", FOUND)
def test_a_value_is_replaced_and_nothing_around_it(text: str) -> None:
    text, value, start, end = marked(text)
    redacted = REDACTOR.redact_text(text)
    assert redacted[start:end] != value
    assert redacted[:start] + value + redacted[end:] == text
    assert value not in redacted


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert REDACTOR.redact_text(text) == text


@pytest.mark.thorough(quick=3)
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:16])
def test_hostile_text_costs_time_in_proportion_to_its_length(text: str) -> None:
    started = time.process_time()
    assert len(REDACTOR.redact_text(text, parsed=True)) == len(text)
    assert time.process_time() - started < 6
