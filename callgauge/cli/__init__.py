"""The command line `callgauge …`: one module per group of commands; `render` formats their results."""
