"""The example of a callgauge.toml: all keys, each with a word on it. `callgauge init-config` writes it."""

from pathlib import Path

EXAMPLE = Path(__file__).with_name("example.toml").read_text("utf-8")
