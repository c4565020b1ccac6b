"""The lenient tool-call argument parser: raw text and a tool definition in, typed arguments and diagnostics
out.
"""

from lenient.calls import DIALECTS, TextCall, extract_tool_calls, leaked_tool_calls
from lenient.codes import CODES
from lenient.diagnostics import Diagnostic
from lenient.leaks import clean_tool_name
from lenient.lint import DEFINITION_CODES, DefinitionFinding, definition_findings
from lenient.parameters import Cardinality, EnumConstraint, ToolParameter, ValueKind
from lenient.parse import parse_arguments
from lenient.request import LENIENT, Outcome, Policy, Step, ToolCallRequest, outcome_of
from lenient.schemas import ToolDefinitionError
from lenient.tools import ToolCatalog, ToolDefinition

PARSER_VERSION = "3"
"""Stored with every call; raised with each change that reads a text differently."""

__all__ = [
    "CODES",
    "DEFINITION_CODES",
    "DIALECTS",
    "LENIENT",
    "PARSER_VERSION",
    "Cardinality",
    "DefinitionFinding",
    "Diagnostic",
    "EnumConstraint",
    "Outcome",
    "Policy",
    "Step",
    "TextCall",
    "ToolCallRequest",
    "ToolCatalog",
    "ToolDefinition",
    "ToolDefinitionError",
    "ToolParameter",
    "ValueKind",
    "clean_tool_name",
    "definition_findings",
    "extract_tool_calls",
    "leaked_tool_calls",
    "outcome_of",
    "parse_arguments",
]
