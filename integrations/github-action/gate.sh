#!/usr/bin/env bash
# Loads logs into a store, runs the gate, and writes the outputs and the summary of the job.
# Every input comes from an environment variable, so that no input is ever part of a command's text.
set -uo pipefail

finish() { # VERDICT EXIT-CODE: write the outputs and the heading of the summary
  printf 'verdict=%s\nexit-code=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"
  { printf '### Callgauge gate: %s\n\n' "${1//-/ }"; cat "$text"; } >>"$GITHUB_STEP_SUMMARY"
}

fail() { # MESSAGE EXIT-CODE
  printf '%s\n' "$1" | tee -a "$text" >&2
  finish error "$2"
  exit "$2"
}

read_lines() { # VALUE: fill the array `lines` with the lines of a value that are not empty
  lines=()
  local line
  while IFS= read -r line; do
    [ -z "${line//[[:space:]]/}" ] || lines+=("$line")
  done <<<"$1"
}

text=$(mktemp)
# Names in logs are anybody's text: without this, a line that begins with :: would be a command to the runner.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$token"
trap 'rm -f "$text"; echo "::$token::"' EXIT

command -v callgauge >/dev/null ||
  fail 'callgauge is not installed: set the input `package`, or install it in an earlier step' 2
[ -n "$CALLGAUGE_GATE_BASELINE" ] || fail 'the input `baseline` is empty: use a saved baseline or days' 2
case $CALLGAUGE_GATE_REQUIRE_DATA in true | false) ;; *) fail 'the input `require-data` is true or false' 2 ;; esac

read_lines "$CALLGAUGE_GATE_LOGS"
if [ "${#lines[@]}" -gt 0 ]; then
  callgauge ingest --store="$CALLGAUGE_GATE_STORE" -- "${lines[@]}"
  code=$?
  case $code in
    0) ;;
    3) printf 'Some lines of the logs could not be read; the log of the job lists them.\n\n' >>"$text" ;;
    *) fail "callgauge ingest failed with exit code $code; the log of the job says why" "$code" ;;
  esac
fi

read_lines "$CALLGAUGE_GATE_NO_WORSE"
gates=()
for line in ${lines[@]+"${lines[@]}"}; do
  case $line in *=*) gates+=("--gate=no-worse:$line") ;; *) gates+=("--gate=no-worse=$line") ;; esac
done
[ "${#gates[@]}" -gt 0 ] || fail 'the input `no-worse` is empty: use a margin such as 0.02' 2

result=$(callgauge gate --store="$CALLGAUGE_GATE_STORE" --baseline="$CALLGAUGE_GATE_BASELINE" \
  --days="$CALLGAUGE_GATE_DAYS" "${gates[@]}" 2>&1)
code=$?
printf '%s\n' "$result"
printf '%s\n' "$result" | sed 's/^/    /' >>"$text" # an indented block: Markdown and HTML in it stay text
case $code in
  0) finish not-worse 0 ;;
  5) finish worse 5; exit 5 ;;
  6) finish not-enough-data 6; [ "$CALLGAUGE_GATE_REQUIRE_DATA" = false ] || exit 6 ;;
  *) finish error "$code"; exit "$code" ;;
esac
