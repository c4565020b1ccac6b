#!/usr/bin/env bash
# Loads logs into a store, runs the gate, and writes the outputs, the annotations and the summary of the job.
# Every input comes from an environment variable, so that no input is ever part of a command's text.
set -uo pipefail

finish() { # VERDICT EXIT-CODE: write the outputs and the summary
  printf 'verdict=%s\nexit-code=%s\nmarkdown=%s\n' "$1" "$2" "$text" >>"$GITHUB_OUTPUT"
  cat "$text" >>"$GITHUB_STEP_SUMMARY"
}

fail() { # MESSAGE EXIT-CODE
  printf '%s\n' "$1" | tee -a "$problems" >&2
  # An indented block: Markdown and HTML in it stay text.
  { printf '### Callgauge gate: error\n\n'; sed 's/^/    /' "$problems"; printf '\n'; } >"$text"
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

text=$(mktemp "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/callgauge-gate-XXXXXXXX") # the next step reads this file
problems=$(mktemp)
printed=$(mktemp)
# Names in logs are anybody's text: without this, a line that begins with :: would be a command to the runner.
token=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
annotations=
echo "::stop-commands::$token"
trap 'rm -f "$problems" "$printed"; echo "::$token::"; printf "%s" "$annotations"' EXIT

command -v callgauge >/dev/null ||
  fail 'callgauge is not installed: set the input `package`, or install it in an earlier step' 2
if [ -n "$CALLGAUGE_GATE_TRIAL" ]; then
  [ -z "$CALLGAUGE_GATE_BASELINE$CALLGAUGE_GATE_LOGS" ] ||
    fail 'the input `against-trial` cannot be used with `baseline` or `logs`: a trial run has its own reference' 2
  sides=("--against-trial=$CALLGAUGE_GATE_TRIAL")
else
  [ -n "$CALLGAUGE_GATE_BASELINE" ] || fail 'the input `baseline` is empty: use a saved baseline or days' 2
  sides=("--store=$CALLGAUGE_GATE_STORE" "--baseline=$CALLGAUGE_GATE_BASELINE" "--days=$CALLGAUGE_GATE_DAYS")
fi
case $CALLGAUGE_GATE_REQUIRE_DATA in true | false) ;; *) fail 'the input `require-data` is true or false' 2 ;; esac
[ -z "$CALLGAUGE_GATE_DASHBOARD" ] || sides+=("--dashboard=$CALLGAUGE_GATE_DASHBOARD")

read_lines "$CALLGAUGE_GATE_LOGS"
unreadable=
if [ "${#lines[@]}" -gt 0 ]; then
  callgauge ingest --store="$CALLGAUGE_GATE_STORE" -- "${lines[@]}"
  code=$?
  case $code in
    0) ;;
    3) unreadable='Some lines of the logs could not be read; the log of the job lists them.' ;;
    *) fail "callgauge ingest failed with exit code $code; the log of the job says why" "$code" ;;
  esac
fi

read_lines "$CALLGAUGE_GATE_NO_WORSE"
gates=()
for line in ${lines[@]+"${lines[@]}"}; do
  case $line in *=*) gates+=("--gate=no-worse:$line") ;; *) gates+=("--gate=no-worse=$line") ;; esac
done
[ "${#gates[@]}" -gt 0 ] || fail 'the input `no-worse` is empty: use a margin such as 0.02' 2

# callgauge appends the Markdown to the file of the summary, and prints the annotations as workflow commands.
GITHUB_STEP_SUMMARY=$text callgauge gate "${sides[@]}" "${gates[@]}" --format=github >"$printed" 2>"$problems"
code=$?
cat "$problems" >&2
case $code in 0 | 5 | 6) ;; *) fail "callgauge gate failed with exit code $code" "$code" ;; esac
cat "$text"
[ -z "$unreadable" ] || printf '%s\n' "$unreadable" >>"$text"
annotations=$(grep -E '^::(error|warning|notice) title=Callgauge gate' "$printed")$'\n'
case $code in
  0) finish not-worse 0 ;;
  5) finish worse 5; exit 5 ;;
  6) finish not-enough-data 6; [ "$CALLGAUGE_GATE_REQUIRE_DATA" = false ] || exit 6 ;;
esac
