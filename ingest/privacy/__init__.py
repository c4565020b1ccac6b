"""Removes secrets and personal data from events before they are stored.

A value that is found becomes a placeholder of exactly the same length and shape: letters become letters (case
kept), digits become digits. All other characters stay, for example braces, quotes and escapes. Redacted
arguments therefore fail with the same codes at the same positions. The first letters of a placeholder spell
its type. The others come from the value and a key in the store's folder. So a value has the same placeholder
in the whole store, and nobody without the key can test guesses.

- `rules` defines which detectors are on, and reads users' own patterns (`--redact-config`).
- `access_tokens`, `labelled_secrets`, `named_secrets`, `request_credentials` and `personal_data` find matches
  in a text.
- `decoded_views` shows a text without its escapes, `broken_lines` without the ends of its lines.
- `placeholders` replaces matches by placeholders.
- `redactor` redacts any text or decoded value; `event_redaction` does it for events, and drops results.

Three things cannot be detected: a name in prose, a password without a word such as `password` next to it, and
an account name without its home folder. `--redact-config` adds a team's own patterns.
"""
