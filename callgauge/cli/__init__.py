"""The command line `callgauge …`, with one module per group of commands. The package `render` formats the
results.
"""

from ingest.processes import leave_threads_out

leave_threads_out()  # This must run before Arrow is imported, so that a load can fork its workers.
