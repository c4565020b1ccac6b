"""Writes sample_data/logs/session_history/made/: three weeks of five models and three prompts, all outcomes.

`python -m sample_data.generate` gives the same bytes every time. The log is the published form of
docs/session-log.md; people, models and companies in it are invented.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from sample_data.made_slips import Sent, sent_right, sent_wrong
from sample_data.made_world import (
    MODELS,
    NEW_FIXER_DAY,
    PROMPTS,
    REGRESSED,
    REGRESSED_RATE,
    REGRESSED_SLIPS,
    TASKS,
    TOOLS,
    Model,
    Step,
    Task,
)

MADE = Path(__file__).parent / "logs" / "session_history" / "made"
SEED = 19  # of the last week, in which every kind of slip is seen
LAST_MONDAY = datetime(2026, 11, 9, tzinfo=UTC)
WEEKS = 3
_WEEK = 7  # days
_TRIES = 3
_SEARCHES = 6  # slips that are tried until one has a place in the call
_PROXIED = 6  # every sixth session of the largest model came through a proxy that keeps no raw text


class Log:
    """The lines of one session, each a little later than the one before."""

    def __init__(self, session_id: str, start: datetime) -> None:
        self._session_id = session_id
        self.now = start
        self.lines: list[str] = []

    def write(self, kind: str, *, seconds: float = 0.2, content: str | None = None, **rest: Any) -> None:
        self.now += timedelta(seconds=seconds)
        event: dict[str, Any] = {
            "ts": f"{self.now:%Y-%m-%dT%H:%M:%S}.{self.now.microsecond // 1000:03d}Z",
            "sessionId": self._session_id,
        }
        event.update((key, rest.pop(key)) for key in ("turn", "step") if key in rest)
        event["type"] = kind
        if content is not None:
            event["content"] = content
        if rest:
            event["meta"] = rest
        self.lines.append(json.dumps(event, ensure_ascii=False, separators=(",", ":")))


class Session:
    """One session of one model under one prompt."""

    def __init__(
        self, model: Model, prompt: str, began: datetime, log: Log, rng: Random, *, keeps_raw: bool
    ) -> None:
        self._model, self._prompt, self._log, self._rng = model, prompt, log, rng
        newest = list(PROMPTS[prompt][1])[-1]
        self._version = "12" if prompt == "fixer" and began < NEW_FIXER_DAY else newest
        self._keeps_raw = keeps_raw
        self._calls = 0
        self._step = 0

    def run(self, tasks: list[Task]) -> list[str]:
        self._start()
        for number, task in enumerate(tasks, start=1):
            self._turn(number, task)
        self._log.write("session_end", seconds=1)
        return self._log.lines

    def _start(self) -> None:
        names, texts = PROMPTS[self._prompt]
        self._log.write(
            "session_start",
            content=texts[self._version],
            harness={"name": "made-gateway", "version": "2.3.0"},
            provider=self._model.provider,
            model=self._model.name,
            prompt={"name": self._prompt, "version": self._version},
            tools=[TOOLS[name] for name in names],
            strategy="tool_use" if self._model.native else "json_fallback",
            probe=self._probe(),
        )

    def _probe(self) -> dict[str, Any]:
        if not self._model.native:
            return {"ok": False, "error": "the answer held no tool_calls"}
        if self._model.provider == "local-vllm" and self._rng.random() < 0.1:
            return {"ok": False, "error": "timeout after 10 s"}
        return {"ok": True}

    def _turn(self, turn: int, task: Task) -> None:
        began = self._log.now
        self._step = 0
        self._log.write("turn_start", seconds=4, turn=turn, content=task.asked)
        status = "ok"
        for step in task.steps:
            status = self._do(turn, step)
            if status != "ok":
                break
        answer = task.answer if status == "ok" else "I could not finish this; please try again."
        if status == "cancelled":
            answer = ""
        else:
            self._say(turn, answer)
        self._log.write("final", turn=turn, step=self._step, content=answer)
        took = int((self._log.now - began).total_seconds() * 1000)
        self._log.write("turn_end", turn=turn, status=self._recorded(status), durationMs=took)

    def _recorded(self, status: str) -> str:
        """What the gateway writes: it calls most turns ok in which the model gave up, as real ones do."""
        if status == "gave_up":
            return self._rng.choice(["ok", "ok", "error", "max_steps"])
        if status == "ok" and self._rng.random() < 0.015:
            return self._rng.choice(["error", "prompt_limit"])
        return status

    def _do(self, turn: int, step: Step) -> str:
        """Try one step of the task until it works; the last word on it: ok, gave_up or cancelled."""
        before: Sent | None = None
        before_id: str | None = None
        for _ in range(_TRIES):
            sent = self._next_try(step, before)
            if sent is None:
                self._leak(turn, step)
                before, before_id = None, None
            else:
                before_id = self._call(turn, sent, before_id)
                before = sent
                if sent.status == "success":
                    return "ok"
                if sent.status == "approval_denied":
                    return "cancelled"
            if self._rng.random() < self._model.gives_up:
                return "gave_up"
        return "gave_up"

    def _next_try(self, step: Step, before: Sent | None) -> Sent | None:
        """What the model sends; None = it writes the call as plain text, which no one hears."""
        if before is not None and self._rng.random() < self._model.repeats:
            return before
        rate, slips = self._model.rate, self._model.slips
        if self._model.name == REGRESSED and self._version == "13":
            rate, slips = REGRESSED_RATE, REGRESSED_SLIPS
        if self._rng.random() >= rate:
            return sent_right(step)
        for _ in range(_SEARCHES):
            slip = self._rng.choices(list(slips), weights=list(slips.values()))[0]
            if slip == "as_text":
                return None
            if (sent := sent_wrong(step, slip, self._rng)) is not None:
                return sent
        return sent_right(step)

    # --- events ------------------------------------------------------------------------------

    def _say(self, turn: int, words: str, **meta: Any) -> None:
        written = 12 + len(words) // 4 + self._rng.randrange(30)
        latency = 250 + 1000 * written / self._model.tokens_a_second * self._rng.uniform(0.8, 1.6)
        self._log.write(
            "assistant",
            seconds=latency / 1000,
            turn=turn,
            step=self._step,
            content=words,
            provider=self._model.provider,
            model=self._model.name,
            tokens={"prompt": 900 + 310 * self._step + 700 * turn, "completion": written},
            latency_ms=round(latency, 1),
            **meta,
        )

    def _call(self, turn: int, sent: Sent, retry_of: str | None) -> str | None:
        """One step with one call; returns the id of the call."""
        if not self._model.native and sent.engine_says is not None:
            self._lost_call(turn, sent)
            return None
        self._calls += 1
        call_id = f"call_{self._calls:03d}"
        block: dict[str, Any] = {"id": call_id, "name": sent.tool}
        # A proxy that keeps only what it could decode.
        block |= {"raw": sent.raw} if self._keeps_raw else {"input": json.loads(sent.raw)}
        block |= {"retry_of": retry_of} if retry_of else {}
        if sent.engine_says is not None:
            block["parse_error"] = {"mode": "tool_use", "error": sent.engine_says, "snippet": sent.raw[:60]}
        fallback = {} if self._model.native else {"strategy": "json_fallback"}
        self._say(turn, "" if self._model.native else _as_answer(sent), **fallback)
        self._log.write("action", turn=turn, step=self._step, toolBlocks=[block])
        took = round(self._rng.lognormvariate(4.5, 1.0), 1)
        self._log.write(
            "observation",
            seconds=took / 1000,
            turn=turn,
            step=self._step,
            content=sent.result,
            action_id=call_id,
            tool=sent.tool,
            status=sent.status,
            duration_ms=took,
        )
        self._step += 1
        return call_id

    def _lost_call(self, turn: int, sent: Sent) -> None:
        """A text call that the fallback could not parse: the gateway keeps a snippet and calls no tool."""
        words = _as_answer(sent)
        error = {"mode": "json_fallback", "error": sent.engine_says, "snippet": words[:80]}
        self._say(turn, words, strategy="json_fallback", parse_error=error)
        self._step += 1

    def _leak(self, turn: int, step: Step) -> None:
        call = json.dumps({"name": step.tool, "arguments": step.arguments}, ensure_ascii=False)
        self._say(turn, f"<tool_call>\n{call}\n</tool_call>", protocol_violation=True, tool=step.tool)
        self._step += 1


def _as_answer(sent: Sent) -> str:
    return f'```json\n{{"tool": "{sent.tool}", "input": {sent.raw}}}\n```'


def files(seed: int = SEED, models: Sequence[Model] = MODELS) -> Iterator[tuple[str, str]]:
    """(name, content) of every file of the weeks: one a day and model. `seed`: of slips and times."""
    for weeks_ago in reversed(range(WEEKS)):
        rng = Random(seed + weeks_ago)
        monday = LAST_MONDAY - timedelta(weeks=weeks_ago)
        for date in (monday + timedelta(days=day) for day in range(_WEEK)):
            for model in models:
                lines = [
                    line
                    for number in range(model.sessions_a_day)
                    for line in _session(model, date, number, rng)
                ]
                yield f"{date:%Y-%m-%d}_{model.name}.jsonl", "\n".join(lines) + "\n"


def _session(model: Model, date: datetime, number: int, rng: Random) -> list[str]:
    prompt = ("fixer", "triage", "reporter")[number % 3]
    start = date + timedelta(hours=7 + 2 * (number % 6), minutes=rng.randrange(110))
    log = Log(f"made-{start:%m%d}-{model.name}-{number + 1}", start)
    keeps_raw = not (model.name == MODELS[0].name and (date.weekday() + number) % _PROXIED == 0)
    tasks = rng.sample(TASKS[prompt], k=min(len(TASKS[prompt]), rng.choice([2, 3, 3])))
    return Session(model, prompt, start, log, rng, keeps_raw=keeps_raw).run(tasks)


def main() -> None:
    MADE.mkdir(parents=True, exist_ok=True)
    for old in MADE.glob("*.jsonl"):
        old.unlink()
    for name, content in files():
        (MADE / name).write_text(content, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
