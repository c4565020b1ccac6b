"""Removes secrets and personal data from events before they are stored.

A found value becomes a placeholder of exactly the same length and shape: letters become letters (case kept),
digits become digits. All other characters stay, for example braces, quotes and escapes. So redacted arguments
fail with the same codes at the same positions as the original arguments. The first letters of a placeholder
spell the type of the value. The other letters come from the value and a key in the store's folder. So a value
has the same placeholder in the whole store, and nobody without the key can test guesses.

- `rules` defines which detectors are on, and reads users' own patterns (`--redact-config`).
- `access_tokens`, `labelled_secrets`, `named_secrets`, `request_credentials` and `personal_data` find matches
  in a text.
- `decoded_views` decodes the escapes of a text, and `broken_lines` joins the lines of a text.
- `placeholders` replaces matches by placeholders.
- `redactor` redacts any text or decoded value. `event_redaction` redacts events and drops results.

Three things cannot be detected: a person's name in prose, a password without a word such as `password` next
to it, and an account name outside the path of a home folder. `--redact-config` adds a team's own patterns.
"""
