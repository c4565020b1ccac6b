"""Writes the chosen models as routing files: a LiteLLM proxy configuration and OpenRouter request fields.

Names come from logs, so YAML and JSON libraries quote them, and comments contain only printable characters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

import yaml

from callgauge.analysis import wording
from callgauge.analysis.verdicts.model_choices import (
    Label,
    ModelChoice,
    ModelChoices,
    describe_choice,
    describe_choices,
    write_days,
)

# Maps hosts, in lower-case letters and digits, to the prefixes of LiteLLM (docs.litellm.ai/docs/providers).
_PREFIXES = {
    re.sub("[^a-z0-9]", "", name): name
    for name in (
        "openai", "anthropic", "azure", "azure_ai", "bedrock", "vertex_ai", "gemini", "mistral", "cohere",
        "groq", "together_ai", "fireworks_ai", "deepinfra", "openrouter", "deepseek", "xai", "perplexity",
        "cerebras",
        "sambanova", "nebius", "novita", "moonshot", "minimax", "zai", "dashscope", "databricks", "watsonx",
        "replicate", "huggingface", "hosted_vllm", "ollama", "lm_studio", "github_copilot", "hyperbolic",
        "nscale", "ovhcloud", "scaleway", "wandb", "chutes", "parasail", "baseten", "friendliai",
        "nvidia_nim",
    )
} | {
    "together": "together_ai", "fireworks": "fireworks_ai", "google": "gemini", "googleaistudio": "gemini",
    "vertex": "vertex_ai", "googlevertex": "vertex_ai", "awsbedrock": "bedrock", "amazonbedrock": "bedrock",
    "azureopenai": "azure", "vllm": "hosted_vllm", "moonshotai": "moonshot",
}  # fmt: skip
_LONGEST_COMMENT = 1_000
_SECRETS = "os.environ/"  # LiteLLM replaces such a model by the value of an environment variable
_ROUTERS = frozenset(("openrouter", "litellm", "litellm_proxy"))


def write_litellm(choices: ModelChoices, label: Label) -> str:
    """Return a configuration of the LiteLLM proxy as YAML, one entry of `model_list` for each row.

    `model_name` is the label of the prompt or tool, so that a program asks the proxy for this name.
    """
    lines: list[str] = []
    entries = 0
    unknown = ""
    for alias, choice in _name_rows(choices, label):
        model, is_known = _write_litellm_model(choice.model, choices.hosts.get(choice.model, ()))
        if "*" in alias + model or model.startswith(_SECRETS):
            lines.append(_comment(f"Left out: LiteLLM gives {alias} or {model} a special meaning.", "  "))
            continue
        entry = {"model_name": alias, "litellm_params": {"model": model}}
        written = yaml.safe_dump([entry], allow_unicode=False, sort_keys=False, width=10_000)
        lines.append(_comment(describe_choice(choice, label, choices.smallest), "  "))
        if not is_known:
            unknown = unknown or model
            hosts = wording.list_words(choices.hosts.get(choice.model, ())) or "no host"
            lines.append(_comment(f"Add the prefix of the provider: the logs name {hosts}.", "  "))
        lines += [f"  {line}" for line in written.splitlines()]
        entries += 1
    head = [_comment(describe_choices(choices))]
    if unknown:
        advice = (
            "LiteLLM skips a model without a provider's prefix. Add the prefix where a comment asks for it"
        )
        head.append(_comment(f"{advice}, for example openai/{unknown} for an OpenAI-compatible API."))
    return "\n".join([*head, "model_list:" if entries else "model_list: []", *lines]) + "\n"


def write_openrouter(choices: ModelChoices, label: Label) -> str:
    """Return the fields of OpenRouter requests as JSON, by the label of the prompt or tool.

    `models` names the current model as the fallback of a suggested model. `provider.order` holds the hosts
    that served the model in the logs, the most used host first. The key `_compared_days` holds the days, and
    `_models_without_author` the models whose names lack the author that OpenRouter expects (`author/model`).
    """
    routes: dict[str, object] = {"_compared_days": write_days(choices.days)} if choices.days else {}
    for alias, choice in _name_rows(choices, label):
        route: dict[str, object] = {"model": choice.model}
        if choice.suggestion:
            route["models"] = [choice.model, choice.current.model]
        order = [_slug(host) for host in choices.hosts.get(choice.model, ())]
        if order := [slug for slug in dict.fromkeys(order) if slug and slug not in _ROUTERS]:
            route["provider"] = {"order": order}
        routes[alias] = route
    routed = {model for row in choices.rows for model in (row.model, row.current.model)}
    if incomplete := sorted(model for model in routed if "/" not in model):
        routes = {"_models_without_author": incomplete} | routes
    return wording.escape(json.dumps(routes, ensure_ascii=False, indent=2)) + "\n"


WRITERS: dict[str, Callable[[ModelChoices, Label], str]] = {
    "litellm": write_litellm,
    "openrouter": write_openrouter,
}
"""The function for each kind of routing file."""


def _name_rows(choices: ModelChoices, label: Label) -> list[tuple[str, ModelChoice]]:
    """Return each row with a unique alias."""
    names = [row.name for row in choices.rows]
    labels = [label(choices.by, name) for name in names]
    aliases = [alias if labels.count(alias) == 1 else name for alias, name in zip(labels, names, strict=True)]
    return list(zip(aliases, choices.rows, strict=True))


def _write_litellm_model(model: str, hosts: Sequence[str]) -> tuple[str, bool]:
    """Return the model with the prefix of its provider, and whether the provider is known."""
    first, slash, _ = model.partition("/")
    prefixes = [
        _PREFIXES[key] for host in hosts if (key := re.sub("[^a-z0-9]", "", host.lower())) in _PREFIXES
    ]
    if prefixes:
        prefix = prefixes[0]
        return (model if slash and first == prefix else f"{prefix}/{model}"), True
    return model, bool(slash) and first in _PREFIXES.values()


def _slug(host: str) -> str:
    return re.sub("[^a-z0-9/]+", "-", host.lower()).strip("-")


def _comment(text: str, indent: str = "") -> str:
    printable = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
    return f"{indent}# {wording.one_line(printable, _LONGEST_COMMENT)}"
