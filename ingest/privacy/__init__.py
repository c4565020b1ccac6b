"""Removes secrets and personal data from events before they are stored.

A value that is found becomes a placeholder of exactly the same length and shape: letters become letters (case
kept), digits become digits. Every other character stays, and with it braces, quotes, escapes and spans.
Redacted arguments therefore fail with the same codes at the same places. The first letters of a placeholder
spell its type, the others come from the value and a key in the store's folder. So a value has the same
placeholder in the whole store, and nobody without the key can test guesses.

- `rules` defines which detectors are on, and reads people's own patterns (`--redact-config`).
- `access_tokens`, `labelled_secrets`, `named_secrets`, `request_credentials` and `personal_data` find matches
  in a text.
- `decoded_views` shows a text without its escapes, `broken_lines` without the ends of its lines.
- `placeholders` replaces matches by placeholders.
- `redactor` redacts any text or decoded value; `event_redaction` does it for events, and drops results.

It cannot detect a name in prose, a password without a telling name next to it, or an account name without its
home folder. `--redact-config` adds a team's own patterns.
"""
