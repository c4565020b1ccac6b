"""Computes the morning report from the store, writes it in several formats, and sends it once to each
channel.

Metrics return pandas data frames, so a process that only loads logs must not import this package.
"""

from ingest.processes import let_pandas_in

let_pandas_in()
