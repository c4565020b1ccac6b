"""Writes YAML that people read: keys in their order, and no value that stands for another one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml


class _PlainDumper(yaml.SafeDumper):
    def ignore_aliases(self, _data: Any) -> bool:
        """Write what occurs twice twice."""
        return True


def write_yaml(*documents: Mapping[str, Any]) -> str:
    """Return the documents as one text."""
    return yaml.dump_all(documents, Dumper=_PlainDumper, sort_keys=False, allow_unicode=True, width=100)
