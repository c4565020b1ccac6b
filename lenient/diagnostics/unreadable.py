"""The error that ends the reading of a text which cannot be read; it never leaves the parser."""


class UnreadableError(Exception):
    """The error at the offset `position` of a text, where no honest repair exists.

    `reason` is the detail of the diagnostic `json_parse_error`.
    """

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position
