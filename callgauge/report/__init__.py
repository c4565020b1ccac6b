"""Computes the morning report from the store, writes it in several formats, and sends it once to each
channel.

This package imports pandas, so a process that only loads logs must not import it.
"""

from ingest.processes import let_pandas_in

let_pandas_in()
