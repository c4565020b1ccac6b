"""The morning report: computed from the store, written in several formats, sent once to each channel.

Metrics return pandas data frames, so a process that only loads logs must not import this package.
"""

from ingest.processes import let_pandas_in

let_pandas_in()
