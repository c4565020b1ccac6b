"""Leaves secrets and personal data out of events before they are stored.

A value that is found becomes a placeholder of exactly the same length and shape: letters become letters (case
kept), digits digits, and every other character stays, so that braces, quotes, escapes and spans do. Redacted
arguments therefore fail with the same codes at the same places. The first letters of a placeholder spell its
type, the others come from the value and a key that lies in the store's folder: the same value has the same
placeholder in the whole store, and nobody without the key can try values out.

- `rules` says which detectors are on, and reads people's own patterns (`--redact-config`).
- `access_tokens`, `labelled_secrets`, `named_secrets`, `request_credentials` and `personal_data` find matches
  in a text.
- `decoded_views` shows a text without its escapes, `broken_lines` without the ends of its lines.
- `placeholders` puts placeholders in the place of matches.
- `redactor` redacts any text or decoded value; `event_redaction` does it for events, and drops results.

What it cannot see: a name in prose, a password without a telling name beside it, an account name without its
home folder. `--redact-config` takes patterns for what a team knows of itself.
"""
