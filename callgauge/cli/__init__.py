"""The terminal's entry, `callgauge …`: one module per group of commands; `render` prints."""
