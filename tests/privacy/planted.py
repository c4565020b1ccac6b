"""Contains invented values of every kind that redaction finds, each in a string that labels it."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from html import escape
from urllib.parse import quote

_HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
_MIXED = "aB3dE5gH7jK9mN1pQ2sT4vW6xY8zC0fR2hU5kX7bD9nG3qJ6"
_BASIC = b64encode(b"svc-user:Wint3rIsLong").decode()

# The value between the marks must not appear in the result.
PLANTED: Mapping[str, tuple[str, ...]] = {
    "age": ("<<AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" + "QPZRY9X8GF2TVDW0S3JN54KHCE>>",),
    "airtable": (f"<<pat{_MIXED[:14]}.{_HEX * 2}>>",),
    "alibaba": (f"<<LTAI5t{_MIXED[:18]}>>",),
    "anthropic": (f"x-api-key: <<sk-ant-api03-{_MIXED}-aBcDeFAA>>",),
    "artifactory": (f"<<AKCp8{_MIXED}{_MIXED[:20]}>>",),
    "atlassian": (f"<<ATATT3xFfGF0{_MIXED}{_MIXED}=1A2B3C4D>>",),
    "authorization": (
        f"Authorization: Basic <<{_BASIC}>>",
        "Authorization: token <<0a9b8c7d6e5f4a3b2c1d>>",
        '{"Authorization": "<<q8W7e6R5t4Y3u2>>"}',
        "-H 'authorization: Bearer <<opaqueBearerValue>>'",
        f"sent as Basic <<{_BASIC}>> by hand",
    ),
    "aws": (
        "key <<AKIAQ3EGPZ4KJ7WTM2NB>> is it",
        "<<ASIAQ3EGPZ4KJ7WTM2NB>>",
        f"aws_secret_access_key = '<<{_MIXED[:38]}/+>>'",
    ),
    "azure": (
        f"DefaultEndpointsProtocol=https;AccountName=x;AccountKey=<<{_MIXED}{_MIXED[:38]}==>>",
        f"<<abc8Q~{_MIXED[:34]}>>",
    ),
    "bearer": ("Bearer <<abcdefghijklmnop.1234>>",),
    "brevo": (f"<<xkeysib-{_HEX * 2}-{_MIXED[:16]}>>",),
    "buildkite": (f"<<bkua_{_HEX}01234567>>",),
    "card": ("pay with <<4111 1111 1111 1111>> today", "card <<5555-5555-5555-4444>>", "<<378282246310005>>"),
    "cerebras": (f"<<csk-{_MIXED[:44].lower()}>>",),
    "circleci": (f"<<CCIPAT_{_MIXED[:22]}_{_HEX}01234567>>",),
    "cloudflare": (f"<<v1.0-{_HEX[:24]}-{_HEX * 4}{_HEX[:18]}>>",),
    "command": (
        "curl -u admin:<<s3cr3tPass>> host",
        "curl -s --user 'admin:<<lettersonly>>' https://h.example",
        "mysql -u root -p<<Gr8Passw0rd>> shop",
        "sshpass -p <<hunterzwei>> ssh host",
        "docker login -u me -p <<dockpass1>> registry.example",
    ),
    "contentful": (f"<<CFPAT-{_MIXED[:43]}>>",),
    "cookie": (
        "Cookie: theme=dark; sid=<<a8b7c6d5e4>>",
        "Set-Cookie: session=<<eyJ0b2tlbiI6MX0>>; Path=/; HttpOnly",
        "curl -b 'sid=<<f00dcafe77>>' host",
    ),
    "cratesio": (f"<<cio{_MIXED[:32]}>>",),
    "databricks": (f"<<dapi{_HEX}>>",),
    "digitalocean": (f"<<dop_v1_{_HEX * 2}>>",),
    "discord": ("<<MZ1yGvKTjE0rY0cV8i47CjAa.uRHQPq.Xb1Mk2nEhe-4iUcrGOuegj57zMC>>",),
    "docker": (f"<<dckr_pat_{_MIXED[:27]}>>",),
    "doppler": (f"<<dp.pt.{_MIXED[:43]}>>",),
    "dropbox": (f"<<sl.{_MIXED}{_MIXED}>>",),
    "dynatrace": (f"<<dt0c01.{'AB2CD3EF' * 3}.{'AB2CD3EF' * 8}>>",),
    "elevenlabs": (f"<<sk_{_HEX}{_HEX[:16]}>>",),
    "email": ("mail <<alice.smith@example.com>> now",),
    "facebook": (f"<<EAAC{_MIXED}{_MIXED}>>",),
    "figma": (f"<<figd_{_MIXED[:40]}>>",),
    "firecrawl": (f"<<fc-{_HEX}>>",),
    "fireworks": (f"<<fw_{_MIXED[:24]}>>",),
    "flyio": (f"<<fm2_{_MIXED}>>",),
    "github": (
        "<<ghp_abcdefghijklmnopqrstuvwxyz0123456789>>",
        "<<github_pat_11ABCDEFG0abcdefghijkl_mnopqrst>>",
    ),
    "gitlab": ("<<glpat-abcdefghij1234567890>>",),
    "google": (
        "<<AIzaSyA1234567890abcdefghijklmnopqrstuv>>",
        f"<<GOCSPX-{_MIXED[:28]}>>",
        f"<<ya29.a0{_MIXED}>>",
        f"<<1//0g{_MIXED[:42]}>>",
    ),
    "grafana": (f"<<glsa_{_MIXED[:32]}_0a1b2c3d>>",),
    "groq": (f"<<gsk_{_MIXED}abcd>>",),
    "hashicorp": (f"<<hvs.CAES{_MIXED}>>", f"<<{_MIXED[:14]}.atlasv1.{_MIXED}{_MIXED[:20]}>>"),
    "heroku": (f"<<HRKU-AA{_MIXED}>>",),
    "home": ("/home/<<alicesmith>>/project", r"C:\Users\<<tomas>>\x", "/Users/<<alicesmith>>"),
    "hubspot": ("<<pat-na1-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0>>",),
    "huggingface": ("<<hf_abcdefghijklmnopqrstuvwxyzABCDEFGH>>",),
    "iban": ("to <<DE89370400440532013000>>.", "<<GB82 WEST 1234 5698 7654 32>>"),
    "jina": (f"<<jina_{_MIXED}>>",),
    "jwt": (
        "<<eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U>>",
    ),
    "key": (
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\n<<MIIFHDBOBgkqhkiG9w0BBQ0wQTApBgkqhkiG9w0BBQwwHAQI>>\n--",
        "-----BEGIN OPENSSH PRIVATE KEY-----\n<<b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAA>>\n",
    ),
    "langfuse": ("<<sk-lf-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0>>",),
    "langsmith": (f"<<lsv2_pt_{_HEX}_0a1b2c3d4e>>",),
    "linear": (f"<<lin_api_{_MIXED[:40]}>>",),
    "mailchimp": (f"<<{_HEX}-us12>>",),
    "mailgun": (f"<<key-{_HEX}>>",),
    "mongodb": (f"<<mdb_sa_sk_{_MIXED[:40]}>>",),
    "netlify": (f"<<nfp_{_MIXED[:40]}>>",),
    "newrelic": ("<<NRAK-ABCDEFGHIJ1234567890KLMNOPQ>>",),
    "notion": (f"<<ntn_{_MIXED[:46]}>>",),
    "npm": (f"<<npm_{_MIXED[:36]}>>", "//registry.example/:_authToken=<<abcdef0123456789abcdef>>"),
    "nvidia": (f"<<nvapi-{_MIXED}{_MIXED[:16]}>>",),
    "onepassword": ("<<A3-ABC123-DEF456GHJ78-KLM90-PQR12-STV34>>",),
    "openai": (f"export OPENAI_API_KEY=<<sk-proj-{_MIXED}>>", f"<<sk-or-v1-{_HEX * 2}>>"),
    "password": (
        "DB_PASSWORD=<<correcthorse>>",
        '"password": "<<hunter>>"',
        '{"password": "<<abc>>", "limit": 5}',
        "password=<<hunterzwei>>&x=1",
        "MY_TOKEN=<<nurbuchstaben>>",
        "AWS_SESSION_TOKEN=<<FwoGZXIvYXdzEBYaDH>>",
        '"token": "<<zufallswort>>"',
        '"auth_token": "<<abcdefg>>"',
        "./run --password <<geheimnis>> -v",
        "--token=<<strenggeheim>>",
        "<password><<letmein>></password>",
        "<apiKey><<q8w7e6>></apiKey>",
        '"api_key": "<<nurbuchstaben>>"',
        "{'client-secret': '<<hunter2>>'}",
        "password: <<geheimnis>>",
        '"pin_passcode": <<4829174829>>',
        '{"name": "X-Api-Key", "value": "<<q8w7e6r5t4>>"}',
    ),
    "perplexity": (f"<<pplx-{_MIXED}>>",),
    "phone": (
        "call <<+49 30 901820>> now",
        "<<+1 (212) 555-0187>>",
        "<<212-555-0187>>",
        "(<<212) 555-0187>>",
        "phone: <<030 9018200>>",
    ),
    "pinecone": (f"<<pcsk_{_MIXED}>>",),
    "plaid": ("<<access-sandbox-0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0>>",),
    "planetscale": (f"<<pscale_tkn_{_MIXED[:43]}>>",),
    "postman": (f"<<PMAK-{_HEX[:24]}-{_HEX}ab>>",),
    "pulumi": (f"<<pul-{_HEX}01234567>>",),
    "pypi": (f"<<pypi-AgEIcHlwaS5vcmc{_MIXED}{_MIXED}>>",),
    "razorpay": (f"<<rzp_live_{_MIXED[:14]}>>",),
    "replicate": (f"<<r8_{_MIXED[:37]}>>",),
    "resend": (f"<<re_{_MIXED[:8]}_{_MIXED[8:32]}>>",),
    "rubygems": (f"<<rubygems_{_HEX}{_HEX[:16]}>>",),
    "sendgrid": (f"<<SG.{_MIXED[:22]}.{_MIXED[:43]}>>",),
    "sentry": (f"<<sntrys_{_MIXED}>>",),
    "shopify": (f"<<shpat_{_HEX}>>",),
    "signature": (f"https://x.blob.example/a?sv=2024&sig=<<{_MIXED[:43]}=>>",),
    "slack": (
        "<<xoxb-123456789012-123456789012-abcdefghijklmnop>>",
        f"<<xapp-1-A0123456789-1234567890123-{_HEX}>>",
        "https://hooks.slack.com/services/<<T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX>>",
    ),
    "softlayer": (f'softlayer_api_key = "<<{_HEX * 2}>>"',),
    "sonar": (f"<<squ_{_HEX}01234567>>",),
    "sourcegraph": (f"<<sgp_{_HEX}01234567>>",),
    "square": (f"<<sq0csp-{_MIXED[:43]}>>",),
    "stripe": (f"<<sk_live_{_MIXED[:24]}>>", f"<<whsec_{_MIXED[:32]}>>"),
    "supabase": (f"<<sbp_{_HEX}01234567>>",),
    "tailscale": (f"<<tskey-auth-{_MIXED[:17]}-{_MIXED[:20]}>>",),
    "tavily": (f"<<tvly-{_MIXED[:32]}>>",),
    "telegram": ("bot <<110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1>>",),
    "together": (f"<<tgp_v1_{_MIXED[:43]}>>",),
    "twilio": (f"<<SK{_HEX}>>",),
    "url_password": (
        "https://bob:<<s3cr3t>>@host.example/x",
        "redis://:<<geheimnis>>@cache:6379",
        "postgres://u:<<p4ss!word#1>>@db/x",
        "git clone https://<<0a9b8c7d6e5f4a3b2c1d>>@git.example/r.git",
    ),
    "voyage": (f"<<pa-{_MIXED[:43]}>>",),
    "wandb": (f"<<wandb_v1_{_MIXED}>>",),
    "xai": (f"<<xai-{_MIXED}>>",),
}


def split_marks(text: str) -> tuple[str, list[str]]:
    parts = [part.split(">>") for part in text.split("<<")]
    return "".join("".join(part) for part in parts), [part[0] for part in parts[1:]]


def _spell_unicode(text: str) -> str:
    r"""Return a value with its letters and digits as JSON escapes: `A` becomes `\u0041`."""
    return "".join(
        f"\\u{ord(sign):04x}" if sign.isalnum() or sign in "=@&+/<>" else json.dumps(sign)[1:-1]
        for sign in text
    )


def _escape_some(text: str) -> str:
    r"""Return JSON as some programs write it: `=`, `&`, `@`, `<` and `>` are escapes, and `/` is `\/`."""
    escaped = json.dumps(text)[1:-1].replace("/", "\\/")
    return "".join(f"\\u{ord(sign):04x}" if sign in "=&@<>'" else sign for sign in escaped)


def _spell_entities(text: str) -> str:
    return "".join(
        f"&#{ord(sign)};" if sign.isalnum() and at % 3 == 0 else escape(sign) for at, sign in enumerate(text)
    )


def _break_value(text: str) -> str:
    """Insert a line break into each marked value, as a terminal does. Cut the string after the last value."""
    parts = text.split("<<")
    for at, part in enumerate(parts[1:], 1):
        value, _, rest = part.partition(">>")
        middle = (len(value) + 1) // 2
        rest = rest if at < len(parts) - 1 or rest[:1] in "@<" else rest[: rest[:1] in ("'", '"')]
        parts[at] = f"{value[:middle]}\n  {value[middle:]}>>{rest}"
    return "<<".join(parts)


# Each function rewrites a marked text. Tests search for the decoded values.
SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "plain": lambda text: split_marks(text)[0],
    "JSON": lambda text: _escape_some(split_marks(text)[0]),
    "JSON, every sign": lambda text: _spell_unicode(split_marks(text)[0]),
    "JSON in JSON": lambda text: _escape_some(_escape_some(split_marks(text)[0])),
    "JSON in JSON, every sign": lambda text: json.dumps(_spell_unicode(split_marks(text)[0]))[1:-1],
    "HTML": lambda text: escape(split_marks(text)[0]),
    "HTML, some by number": lambda text: _spell_entities(split_marks(text)[0]),
    "URL": lambda text: quote(split_marks(text)[0], safe=""),
    "URL, every sign": lambda text: "".join(f"%{byte:02x}" for byte in split_marks(text)[0].encode()),
    "URL in JSON": lambda text: json.dumps(quote(split_marks(text)[0]))[1:-1],
    "broken by the end of a line": lambda text: split_marks(_break_value(text))[0],
    "broken, in JSON": lambda text: json.dumps(split_marks(_break_value(text))[0])[1:-1],
}
