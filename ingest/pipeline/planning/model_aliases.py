"""Decides as which model a name counts: one model stands in logs under many names.

The table here only takes away what says who serves a model, how its name is spelled, or a date that tells no
two versions apart. `gpt-4o-2024-05-13` and `gpt-4o-2024-08-06` are two models and stay two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ingest.pipeline.planning.naming import AliasSettings

# Makers and hosts that stand before a model's name in routers, SDKs and on model hubs.
_MAKERS = (
    "accounts/fireworks/models", "ai21", "amazon", "anthropic", "azure", "azure_ai", "bedrock", "cerebras",
    "cohere", "converse", "copilot", "deepinfra", "deepseek", "deepseek-ai", "fireworks", "fireworks_ai",
    "gemini", "github", "github_copilot", "google", "google-vertex", "groq", "hosted_vllm", "huggingface",
    "litellm_proxy", "meta", "meta-llama", "minimax", "mistral", "mistralai", "models", "moonshot",
    "moonshotai", "nvidia", "nvidia_nim", "ollama", "ollama_chat", "openai", "opencode", "openrouter",
    "publishers/anthropic/models", "publishers/google/models", "qwen", "together", "together_ai", "vertex_ai",
    "x-ai", "xai", "z-ai", "zai", "zai-org",
)  # fmt: skip
_HOST = re.compile(rf"(?:(?:{'|'.join(map(re.escape, _MAKERS))})/)+(?=.)", re.IGNORECASE)
# us.anthropic.claude-sonnet-4-20250514-v1:0, also at the end of an ARN.
_BEDROCK = re.compile(
    r"(?:arn:aws[\w-]*:bedrock:.*/)?(?:(?:us|us-gov|eu|apac|jp|au|ca|sa|global)\.)?"
    r"(?:ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|nvidia|openai|qwen|zai)"
    r"\.(?P<model>.+?)(?:-v[0-9]+)?(?::[0-9]+)?(?::[0-9]+k)?"
)
_VERTEX_DATE = re.compile(r"@(?=20[0-9]{6}$)")
_CLAUDE_DOT = re.compile(r"(?<=[0-9])\.(?=[0-9])")
_CLAUDE_DATE = re.compile(r"(claude-.+)-20[0-9]{6}")
_SEVERAL_SNAPSHOTS = frozenset({"claude-3-5-sonnet"})  # of June and of October 2024
# Models of OpenAI with one snapshot each; of others, such as gpt-4o, there are several.
_ONE_SNAPSHOT = {
    "gpt-4.1": "2025-04-14", "gpt-4.1-mini": "2025-04-14", "gpt-4.1-nano": "2025-04-14",
    "gpt-4o-mini": "2024-07-18", "gpt-5": "2025-08-07", "gpt-5-mini": "2025-08-07",
    "gpt-5-nano": "2025-08-07", "gpt-5.1": "2025-11-13", "o1": "2024-12-17", "o3": "2025-04-16",
    "o3-mini": "2025-01-31", "o4-mini": "2025-04-16",
}  # fmt: skip
_SNAPSHOTS = {f"{model}-{day}": model for model, day in _ONE_SNAPSHOT.items()}
_LONGEST_CHAIN = 10  # names that lead to each other


@dataclass(frozen=True, slots=True)
class ModelAlias:
    """A name that counts as another model; `rule` says why, in words that end `by …`."""

    model_name: str
    model: str
    rule: str


def find_aliases(names: Iterable[str], settings: AliasSettings) -> list[ModelAlias]:
    """Return those of the names that count as another model."""
    return [alias for name in sorted(set(names)) if (alias := find_alias(name, settings)) is not None]


def find_alias(name: str, settings: AliasSettings) -> ModelAlias | None:
    """Return the model as which a name counts; None when it counts under this name."""
    if not settings.enabled:
        return None
    model, rules = name, []
    for _ in range(_LONGEST_CHAIN):
        if model in settings.own:
            found = [(settings.own[model], settings.own_rule)]
        else:
            found = _apply_table(model) if settings.defaults else []
        if not found or found[-1][0] == model:
            break
        model = found[-1][0]
        rules += [rule for _, rule in found if rule not in rules]
    return ModelAlias(name, model, ", ".join(rules)) if model != name else None


def _apply_table(name: str) -> list[tuple[str, str]]:
    """Return the steps by which our table shortens a name: each result, and the rule that led to it."""
    steps: list[tuple[str, str]] = []
    for rule, change in _TABLE.items():
        model = steps[-1][0] if steps else name
        if (changed := change(model)) != model:
            steps.append((changed, rule))
    return steps


def _drop_host(name: str) -> str:
    bare = _HOST.sub("", name, count=1) if _HOST.match(name) else name
    match = _BEDROCK.fullmatch(bare)
    return match["model"] if match else bare


def _spell(name: str) -> str:
    if not name.startswith("claude-"):
        return name
    return _CLAUDE_DOT.sub("-", _VERTEX_DATE.sub("-", name))


def _drop_date(name: str) -> str:
    claude = _CLAUDE_DATE.fullmatch(name)
    if claude and claude[1] not in _SEVERAL_SNAPSHOTS:
        return claude[1]
    return _SNAPSHOTS.get(name, name)


_TABLE = {"host": _drop_host, "spelling": _spell, "date": _drop_date}
