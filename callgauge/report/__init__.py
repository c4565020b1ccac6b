"""The morning report: made from the store, written in five formats, sent once.

It summarises what changed overnight. Metrics return pandas frames; processes that only load never import
pandas.
"""

from ingest.processes import let_pandas_in

let_pandas_in()
