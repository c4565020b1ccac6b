"""Read how long a server asks to wait before the next request."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def read_retry_after(value: str | None) -> float:
    """Return the seconds to wait that the header `Retry-After` gives as a number or date.

    Return 0 if the header is missing. Source: RFC 9110, section 10.2.3.
    """
    text = (value or "").strip()
    try:
        seconds = float(text)
    except ValueError:
        pass
    else:
        return max(0.0, seconds) if math.isfinite(seconds) else 0.0
    try:
        return max(0.0, (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return 0.0
