"""The command line `callgauge …`: one module per group of commands; `render` formats their results."""

from ingest.processes import leave_threads_out

leave_threads_out()  # This must run before Arrow is imported, so that a load can fork its workers.
