"""Tests that a labelled secret is found in prose, shells, configurations and tables, and that ordinary words
stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

import pytest

from tests.privacy.planted import SPELLINGS, split_marks
from tests.privacy.test_detectors import REDACTOR

# Redaction replaces the value between the marks. The text around the marks stays.
KINDS: Mapping[str, tuple[str, ...]] = {
    "a command as a list": (
        '["mysql", "-u", "root", "--password", "<<hunterARGV7x>>"]',
        '["mysql","-uroot","-p<<Gr8Passw0rd>>","shop"]',
        '["curl", "-s", "-u", "svc:<<geheimnis>>", "https://h.example"]',
        '["sshpass", "-p", "<<hunterzwei>>", "ssh", "host"]',
        '["docker", "login", "-u", "me", "-p", "<<dockpass1>>"]',
        '["curl", "-H", "Authorization: Bearer <<opaqueBearerValue>>"]',
        '["curl", "-b", "sid=<<f00dcafe77>>", "host"]',
        '["tool", "--password", "<<correct horse battery>>", "run"]',
        '["tool", "--token",\n  "<<strenggeheim>>",\n  "run"]',
        "subprocess.run(['tool', '--password', '<<hunterzwei>>'], check=True)",
        'exec.Command("mysql", "--password", "<<hunterzwei>>")',
        '["bash", "-lc", "tool --password <<hunterzwei>>"]',
        '["tool", "--password", "<<hunterzw>>',
        '{"command": "mysql", "args": ["-u", "root", "-p<<Gr8Passw0rd>>"]}',
        '["tool", flag, "--password", "<<hunterzwei>>"]',
        "args:\n  - --password\n  - <<hunterzwei>>\n  - --verbose",
        'command:\n- curl\n- -u\n- "svc:<<geheimnis>>"\n',
    ),
    "an option": (
        "tool --password '<<correct horse>>' run",
        "New-User -Name bob -Password <<hunterZwei>>",
        "keytool -storepass <<changeit9>> -list",
        "openssl rsa -passin pass:<<hunterzwei>> -in key.pem",
    ),
    "markup": (
        "**Password:** <<hunterMARK7x>>",
        "**Password**: <<geheimnis>>",
        "- *password*: `<<geheimnis>>`",
        "__Password:__ <<hunterMARK7x>>",
        "`password`: **<<geheimnis>>**",
        "**API key:** `<<q8w7e6r5t4>>`",
        "<b>Password:</b> <<hunterMARK7x>>",
        "<strong>Password:</strong> <code><<geheimnis>></code>",
        "<td>password</td><td><<geheimnis>></td>",
        "<dt>Password</dt>\n  <dd><<geheimnis>></dd>",
        "**Password:**\n```\n<<geheim7nis>>\n```",
        "<p>Your password is <b><<geheimnis>></b></p>",
        "|password|<<hunterTABL7x>>|",
        "| password | <<hunterTABL7x>> |",
        "| **Password** | `<<geheimnis>>` |",
        "| user | password |\n|---|---|\n| bob | <<geheimnis>> |\n| eve | <<hunterzwei>> |",
        " user | password \n------+----------\n bob  | <<geheimnis>>\n(1 row)",
    ),
    "colours": (
        "password: \x1b[33m<<hunterANSI7x>>\x1b[0m",
        "\x1b[1mpassword\x1b[0m: \x1b[33m<<geheimnis>>\x1b[0m",
        "\x1b[1;32mDB_PASSWORD\x1b[0m=\x1b[0m<<geheimnis>>",
        "[33mpassword[0m: [1m<<geheimnis>>[0m",
        "password: \x1b]8;;http://h.example\x07<<hunterANSI7x>>\x1b]8;;\x07",
        r"password: \033[33m<<hunterANSI7x>>\033[0m",
        "\x1b[01;31m\x1b[K<<ghp_>>\x1b[m\x1b[K<<abcdefghijklmnopqrstuvwxyz0123456789>>",
    ),
    "a sentence": (
        "Your password is: <<hunterISIS7x>>",
        "the password is <<hunter7isis>> for now",
        "The password for alice is <<hunter7isis>>.",
        "Password for user postgres: <<geheimnis>>",
        "Das Passwort lautet: <<geheimnis>>",
        "La contraseña es: <<geheimnis>>",
        "set the password to <<hunter7isis>>",
        "The password was changed to <<hunter7isis>>",
        "user bob, password <<hunter7isis>>",
        "user: bob\npass: <<hunter7isis>>\n",
        "pw: <<geheimnis>>",
        "log in with password '<<hunter7x>>' first",
        "the password “<<geheim7x>>” works",
    ),
    "a setting": (
        "ENV DB_PASSWORD <<hunterENVxx>>",
        "FROM x\nARG API_TOKEN <<geheimnis>>\n",
        "setx DB_PASSWORD <<geheimnis>>",
        "set -x DB_PASSWORD <<geheimnis>>",
        "redis-cli config set requirepass <<geheimnis>>",
        "requirepass <<geheim7nis>>\n",
        "aws configure set aws_secret_access_key <<q8w7e6r5t4>>",
    ),
    "a file of passwords": (
        "machine h.example login u password <<hunterNETR7x>>",
        "machine h.example\n  login u\n  password <<geheimnis>>\n",
        "default login anonymous password <<geheimnis>>",
        "db.example:5432:shop:bob:<<geheimnis>>",
        "$ cat ~/.pgpass\n*:*:*:bob:<<geheimnis>>\n",
        "username bob password <<geheimnis>>",
    ),
    "a name beside its value": (
        "- name: DB_PASSWORD\n  value: <<hunterK8S77x>>",
        "- name: DB_PASSWORD\n  value: '<<geheimnis>>'",
        "- {name: DB_PASSWORD, value: <<geheimnis>>}",
        "password:\n  value: <<geheimnis>>",
        "password: |-\n  <<hunter7isis>>\n",
        '"password": {"value": "<<geheimnis>>"}',
        'env {\n  name  = "DB_PASSWORD"\n  value = "<<geheimnis>>"\n}',
        '{"name": "DB_PASSWORD",\n      "value": "<<geheimnis>>"}',
        '{"Key": "DB_PASSWORD", "Value": "<<geheimnis>>"}',
        '{"ParameterKey": "DBPassword", "ParameterValue": "<<geheimnis>>"}',
        '{"key": "password", "value": {"stringValue": "<<geheimnis>>"}}',
        "{name: 'DB_PASSWORD', value: '<<geheimnis>>'}",
        '{"value": "<<geheimnis>>", "name": "DB_PASSWORD"}',
        '<input type="password" name="p" value="<<geheimnis>>">',
        '<input value="<<geheimnis>>" type="password">',
        "<input id='password' class='wide' value='<<geheimnis>>'/>",
        '<add key="Password" value="<<geheimnis>>" />',
        "<input type=password value=<<geheimnis>>>",
        '<meta name="api-key" content="<<q8w7e6r5t4>>">',
        '<password type="plain"><<geheimnis>></password>',
        "<Password><![CDATA[<<geheimnis>>]]></Password>",
        '<property name="db.password"><<geheimnis>></property>',
    ),
    "a program": (
        'password: str = "<<geheimnis>>"',
        'password = b"<<geheimnis>>"',
        "setPassword('<<geheimnis>>')",
        'fill("#password", "<<hunter7isis>>")',
    ),
    "SQL": (
        "CREATE USER a IDENTIFIED BY '<<hunterSQL77x>>'",
        "GRANT ALL ON *.* TO a@h IDENTIFIED BY PASSWORD '<<geheimnis>>';",
        "ALTER USER a IDENTIFIED WITH mysql_native_password BY '<<geheimnis>>'",
        'CREATE USER a IDENTIFIED BY "<<geheimnis>>"',
        "CREATE USER a IDENTIFIED BY <<geheimnis>>;",
        "ALTER ROLE a WITH ENCRYPTED PASSWORD '<<geheimnis>>'",
        "alter role a with password '<<geheimnis>>'",
        "SET PASSWORD FOR a = PASSWORD('<<geheimnis>>')",
        "CREATE SECRET s (TYPE s3, KEY_ID 'x', SECRET '<<geheimnis>>')",
    ),
    "other languages": (
        "密码：<<hunter2xyz>>",
        "密码: <<geheimnis>>",
        "用户名 root 密碼為 <<hunter2xyz>>",
        "口令=<<geheimnis>>",
        "パスワード: <<geheimnis>>",
        "パスワードは<<hunter2xyz>>です",
        "パスワード「<<geheimnis>>」",
        "пароль: <<geheimnis>>",
        "Пароль — <<hunter2xyz>>",
        '{"пароль": "<<geheimnis>>"}',
        "비밀번호: <<geheimnis>>",
        "암호는 <<hunter2xyz>> 입니다",
        "mot de passe : <<geheimnis>>",
        "le mot de passe est <<hunter2xyz>>",
        "hasło: <<geheimnis>>",
        "heslo: <<geheimnis>>",
        "wachtwoord: <<geheimnis>>",
        "lösenord: <<geheimnis>>",
        "passord: <<geheimnis>>",
        "adgangskode: <<geheimnis>>",
        "salasana: <<geheimnis>>",
        "jelszó: <<geheimnis>>",
        "şifre: <<geheimnis>>",
        "parola: <<geheimnis>>",
        "clave: <<geheimnis>>",
        "palavra-passe: <<geheimnis>>",
        "mật khẩu: <<geheimnis>>",
        "κωδικός πρόσβασης: <<geheimnis>>",
        "סיסמה: <<geheimnis>>",
        "كلمة المرور: <<geheimnis>>",
        "पासवर्ड: <<geheimnis>>",
        "รหัสผ่าน: <<geheimnis>>",
        "API密钥：<<q8w7e6r5t4>>",
        "APIキー: <<q8w7e6r5t4>>",
    ),
    "an address in a link": (
        "https://x.example/?v=mailto:<<dave@corp.example>>",
        "https://x.example/?v=mailto%3A<<dave%40corp.example>>",
    ),
    "a token that a margin splits": (
        "+GITHUB_TOKEN=<<ghp_abcdefghijklmnop>>\n+<<qrstuvwxyz0123456789>>\n+next: line",
        "-key <<ghp_abcdefghijklmnop>>\n-<<qrstuvwxyz0123456789>>\n",
        "12\tkey <<ghp_abcdefghijklmnop>>\n13\t<<qrstuvwxyz0123456789>>\n",
        "> key <<ghp_abcdefghijklmnop>>\n> <<qrstuvwxyz0123456789>>\n",
        "| key <<ghp_abcdefghijklmnop>>\n| <<qrstuvwxyz0123456789>>\n",
        "> -----BEGIN PRIVATE KEY-----\n> <<MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn>>\n> <<ygWyF8PbnGy0AH>>\n",
        "1→-----BEGIN PRIVATE KEY-----<<\n2→MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn\n3→ygWyF8PbnGy0AH>>\n",
    ),
}
CASES = [(kind, text) for kind, texts in KINDS.items() for text in texts]
_NESTED = ("plain", "JSON", "JSON in JSON")

LEFT_ALONE = [
    '["git", "commit", "-m", "Ask for the password once"]',
    '["pytest", "-k", "token", "-p", "no:cacheprovider"]',
    '{"required": ["password", "username"], "enum": ["-p", "--password"]}',
    '["--password", "--user", "--host"]',
    '["+1", "-234", "567", "8901"]',
    'parser.add_argument("--token", type=str, required=True)',
    '["tool", "--password", password_of_user]',
    'def with_password(self, password: str | None) -> "URL":',
    "secret = r'(?:key|pwd|password|pass|token|quit)'",
    "userpass = username",
    "| Token | Purpose |\n|---|---|\n| `borderMuted` | Subtle borders |",
    "Now pass `impactJobId` to it; if I pass 127.0.0.1:8000",
    "It can be identified by `field.primary_key`.",
    "args:\n  - --password\n  - $(DB_PASSWORD)\n",
    "**Password:** required\n**Token:** optional",
    "| password | string | The user's password |",
    "| name | type |\n|---|---|\n| password | varchar |",
    "| user | password |\n|---|---|\n| string | required |\n",
    "the password is required and the token is optional",
    "if the password is correct, the secret is to be rotated",
    "Your password is incorrect.",
    "password for the database is stored elsewhere",
    "set the password to something that you know",
    "The password 'must be' set; unexpected token 'abc123'",
    "ENV PATH /usr/bin\nset password policy",
    "reset password link sent",
    "src/app.py:12:5:E501: line too long",
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db",
    "- name: DB_HOST\n  value: db.example",
    '<input type="password" name="p" value="">',
    '<input type="text" value="hello" name="greeting">',
    '<input type="password" placeholder="Your password" required>',
    "identified by the following steps",
    "The problem was identified by running tests.",
    "密码必须包含数字",
    "パスワードを入力してください",
    "Введите пароль и нажмите",
    "le mot de passe est obligatoire",
    "+import os\n+def main():\n+    return parse_arguments2\n+    done",
]  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), CASES)
def test_a_value_is_replaced_and_nothing_around_it(kind: str, text: str) -> None:
    plain, values = split_marks(text)
    redacted = REDACTOR.redact_text(plain)
    assert not [value for value in values if value in redacted], redacted
    blank = split_marks(
        re.sub(r"<<(.*?)>>", lambda value: f"<<{chr(0) * len(value[1])}>>", text, flags=re.DOTALL)
    )[0]
    around = "".join(new if old != chr(0) else old for new, old in zip(redacted, blank, strict=True))
    assert around == blank


@pytest.mark.parametrize("spelling", _NESTED)
@pytest.mark.parametrize("kind", KINDS)
def test_a_value_is_found_in_json_within_json(kind: str, spelling: str) -> None:
    for text in KINDS[kind]:
        quote = {"plain": "", "JSON": '"', "JSON in JSON": r"\""}[spelling]
        written = SPELLINGS[spelling](text)
        written = f"{{{quote}text{quote}: {quote}{written}{quote}}}" if quote else written
        redacted = REDACTOR.redact_text(written, parsed=True)
        for value in split_marks(text)[1]:
            assert SPELLINGS[spelling](value) not in redacted, (written, redacted)


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_is_found_in_a_text_of_decoded_arguments(kind: str) -> None:
    for text in KINDS[kind]:
        plain, values = split_marks(text)
        redacted = json.dumps(REDACTOR.redact_value({"content": plain, "n": 1}), ensure_ascii=False)
        for value in values:
            assert value not in redacted, redacted


@pytest.mark.parametrize(
    ("words", "secret"),
    [
        (["mysql", "--password", "hunterARGV7x"], 2),
        (["curl", "-u", "svc:geheimnis", "https://h.example"], 2),
        (["sshpass", "-p", "correct horse", "ssh"], 2),
        (["tool", "--password", "correct horse battery", "run"], 2),
        (["bash", "-lc", "tool --password hunterzwei"], 2),
    ],
)
def test_a_command_in_decoded_arguments_loses_its_secret_only(words: list[str], secret: int) -> None:
    redacted = REDACTOR.redact_value({"command": words})["command"]
    assert redacted[secret] != words[secret]
    assert redacted[secret].split()[-1] != words[secret].split()[-1]
    assert redacted[:secret] + redacted[secret + 1 :] == words[:secret] + words[secret + 1 :]


def test_a_decoded_attribute_of_a_trace_loses_its_secret() -> None:
    attribute = {"key": "password", "value": {"stringValue": "geheimnis"}}
    assert REDACTOR.redact_value(attribute)["value"]["stringValue"] != "geheimnis"


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_only_speaks_of_a_secret_stays(text: str) -> None:
    assert REDACTOR.redact_text(text) == text
