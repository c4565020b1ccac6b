"""Convert slices (the selected values of each dimension) to JSON and back.

Prompts are stored by id, because their labels may change.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

KeptSlice = Mapping[str, tuple[str, ...]]
"""The selected values by dimension. A missing dimension has no filter."""

PARAMETERS: Mapping[str, str] = {
    "model": "models",
    "prompt": "prompts",
    "tool": "tools",
    "mcp_server": "mcp_servers",
    "provider": "providers",
    "strategy": "strategies",
    "source": "sources",
    "harness_version": "harness_versions",
    "project": "projects",
    "branch": "branches",
    "sub_agent": "sub_agents",
    "environment": "environments",
    "run": "runs",
    "arm": "arms",
}
"""The metric parameter of each dimension of a slice."""


def write_slice(kept_slice: KeptSlice) -> str:
    """Return a slice as JSON for the memory."""
    return json.dumps(
        {name: list(kept_slice[name]) for name in PARAMETERS if kept_slice.get(name)}, ensure_ascii=False
    )


def read_slice(text: str) -> KeptSlice:
    """Parse a slice that `write_slice` wrote. Unknown dimensions are ignored."""
    read = json.loads(text)
    return {name: tuple(map(str, read[name])) for name in PARAMETERS if read.get(name)}


def slice_parameters(kept_slice: KeptSlice) -> dict[str, Any]:
    """Return a slice as metric parameters, such as {"models": ("heron",)}."""
    return {PARAMETERS[name]: values for name, values in kept_slice.items()}


def take_slice(parameters: Mapping[str, Any]) -> KeptSlice:
    """Return the slice that a page's metric parameters describe. Days and unset filters are left out."""
    return {name: tuple(values) for name, key in PARAMETERS.items() if (values := parameters.get(key))}
