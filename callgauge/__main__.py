"""`python -m callgauge`, the same as the `callgauge` command."""

from callgauge.cli.main import main

main()
