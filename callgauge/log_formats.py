"""The interface for third-party log formats, which register in the entry point group `callgauge.formats`.

docs/integrations.md contains an example. Names that are not in this module may change.
"""

from ingest.events import (
    ArgsSource,
    CallMade,
    Event,
    FaultLayer,
    FlagSource,
    LogLine,
    PromptSeen,
    Rejected,
    ResultSeen,
    ResultStatus,
    SessionSeen,
    StepMade,
    Strategy,
    ToolsOffered,
    TurnEnded,
    TurnStarted,
    Visibility,
)
from ingest.log_format import About, Format, Record, Source, Translator

__all__ = [
    "About",
    "ArgsSource",
    "CallMade",
    "Event",
    "FaultLayer",
    "FlagSource",
    "Format",
    "LogLine",
    "PromptSeen",
    "Record",
    "Rejected",
    "ResultSeen",
    "ResultStatus",
    "SessionSeen",
    "Source",
    "StepMade",
    "Strategy",
    "ToolsOffered",
    "Translator",
    "TurnEnded",
    "TurnStarted",
    "Visibility",
]
