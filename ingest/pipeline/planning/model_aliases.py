"""Decides under which model a model name in a log is counted, because logs use many names for one model.

The rules remove the host, the way of calling, spelling variants, and the date of a snapshot. If snapshots of
a model differ, the date stays: `gpt-4o-2024-05-13` and `gpt-4o-2024-08-06` stay two models.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from ingest.pipeline.planning.naming import AliasSettings
from lenient.regex import compile_regex

# Makers and hosts that routers, SDKs and model hubs put before a model name.
_MAKERS = (
    "accounts/fireworks/models", "ai21", "amazon", "anthropic", "azure", "azure_ai", "bedrock", "cerebras",
    "cohere", "converse", "copilot", "deepinfra", "deepseek", "deepseek-ai", "fireworks", "fireworks_ai",
    "gemini", "github", "github_copilot", "google", "google-vertex", "groq", "hosted_vllm", "huggingface",
    "litellm_proxy", "meta", "meta-llama", "minimax", "mistral", "mistralai", "models", "moonshot",
    "moonshotai", "nvidia", "nvidia_nim", "ollama", "ollama_chat", "openai", "opencode", "openrouter",
    "publishers/anthropic/models", "publishers/google/models", "qwen", "together", "together_ai", "vertex_ai",
    "x-ai", "xai", "z-ai", "zai", "zai-org",
)  # fmt: skip
_HOST = compile_regex(
    rf"(?:projects/[^/]+/locations/[^/]+/)?(?:(?:{'|'.join(map(re.escape, _MAKERS))})/)+(?=.)", re.IGNORECASE
)
# Matches us.anthropic.claude-sonnet-4-20250514-v1:0, alone or at the end of an ARN.
_BEDROCK = compile_regex(
    r"(?:arn:aws[\w-]*:bedrock:.*/)?(?:[a-z]{2,6}(?:-[a-z]+)?\.)?"
    r"(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|nvidia|openai|qwen|zai)"
    r"\.(?P<model>.+?)(?:-v[0-9]+)?(?::[0-9]+)?(?::[0-9]+k)?"
)
# Suffixes for how a model is called: [1m] (Claude Code), :free (OpenRouter), @default (Vertex AI). An Ollama
# tag such as :9b belongs to the model name, so it does not match.
_VARIANT = compile_regex(
    r"(?<=.)(?:\[[\w.-]+\]|@(?:default|latest)|:(?:thinking|free|beta|extended|exacto|floor|latest|nitro|online))$",
    re.IGNORECASE,
)
_CLAUDE_DOT = compile_regex(r"(?<=[0-9])\.(?=[0-9])")
_DATED = compile_regex(
    r"(?P<model>.*[0-9].*)[-@]20[0-9]{2}(?P<dash>-?)(?:0[1-9]|1[0-2])(?P=dash)(?:0[1-9]|[12][0-9]|3[01])"
)
# Older models whose snapshots differ from each other. Newer models get a new number instead of a new date.
_SEVERAL_SNAPSHOTS = compile_regex(r"claude-3-5-sonnet|gpt-4o(?:-audio-preview|-realtime-preview)?")
_LONGEST_CHAIN = 10  # largest number of aliases that are followed one after another


class ModelAlias(msgspec.Struct, frozen=True):
    """A model name that counts as another model. `rule` is the reason, in words that can follow "by"."""

    model_name: str
    model: str
    rule: str


def find_aliases(names: Iterable[str], settings: AliasSettings) -> list[ModelAlias]:
    """Return an alias for each model name that counts as another model."""
    return [alias for name in sorted(set(names)) if (alias := find_alias(name, settings)) is not None]


def find_alias(name: str, settings: AliasSettings) -> ModelAlias | None:
    """Return the alias of a model name. Return None when the name counts as itself."""
    if not settings.enabled:
        return None
    model, rules = name, []
    for _ in range(_LONGEST_CHAIN):
        if model in settings.own:
            replacements = [(settings.own[model], settings.own_rule)]
        else:
            replacements = _apply_rules(model) if settings.defaults else []
        if not replacements or replacements[-1][0] == model:
            break
        model = replacements[-1][0]
        rules += [rule for _, rule in replacements if rule not in rules]
    return ModelAlias(name, model, ", ".join(rules)) if model != name else None


def _apply_rules(name: str) -> list[tuple[str, str]]:
    steps: list[tuple[str, str]] = []
    for rule, change in _RULES.items():
        model = steps[-1][0] if steps else name
        if (changed := change(model)) != model:
            steps.append((changed, rule))
    return steps


def _drop_host(name: str) -> str:
    bare = _HOST.sub("", name, count=1) if _HOST.match(name) else name
    match = _BEDROCK.fullmatch(bare)
    return match["model"] if match else bare


def _drop_variant(name: str) -> str:
    return _VARIANT.sub("", name)


def _spell(name: str) -> str:
    return _CLAUDE_DOT.sub("-", name) if name.startswith("claude-") else name


def _drop_date(name: str) -> str:
    """Return the name without the date of a snapshot.

    The date stays if the rest of the name has no number (qwen-max). Then only the date distinguishes the
    versions.
    """
    dated = _DATED.fullmatch(name)
    if dated is None or _SEVERAL_SNAPSHOTS.fullmatch(dated["model"]):
        return name.replace("@", "-") if dated else name
    return dated["model"]


_RULES = {"variant": _drop_variant, "host": _drop_host, "spelling": _spell, "date": _drop_date}
