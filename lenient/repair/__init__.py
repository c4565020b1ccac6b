"""Broken text and the place of a value → one JSON value, every mend coded and located; or the reason why
there is none. Knows nothing of what surrounds the value.

`scanner` goes over the text once, with an explicit stack of `frames`; the `reading` is what its parts share:
`members` (keys and colons: `keys`), `values` (without quotes: `bare`, `unopened`) and `closing` (`brackets`,
`nesting`). `plain` passes the parts that have one reading, by one pattern each. A string in quotes (`quoted`)
ends where the evidence says: `strings` goes from quote to quote, `follows` grades what comes after each
(names that the definition declares count most), and `ends` decides; `bodies` decodes what the string holds.
`lines` and `blocks` read objects without braces.
"""

from lenient.repair.bare import UnreadableError
from lenient.repair.scanner import Scan, scan

__all__ = ["Scan", "UnreadableError", "scan"]
