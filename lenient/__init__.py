"""Lenient parser for the arguments of LLM tool calls.

The parser returns the typed arguments and a diagnostic for each defect.
"""

from lenient.arguments.checked_call import CheckedCall, check_call
from lenient.arguments.parse import clean_tool_name, parse_arguments
from lenient.arguments.request import LENIENT, Outcome, Policy, Step, ToolCallRequest, outcome_of
from lenient.calls import DIALECTS, TextCall, extract_tool_calls, leaked_tool_calls
from lenient.definitions.declarations import ToolDefinitionError
from lenient.definitions.json_schema.value_kinds import ValueKind
from lenient.definitions.parameters import Cardinality, EnumConstraint, ToolParameter
from lenient.definitions.tools import ToolCatalog, ToolDefinition
from lenient.diagnostics import Diagnostic
from lenient.diagnostics.codes import CODES
from lenient.lint import DEFINITION_CODES, DefinitionFinding, definition_findings

__version__ = "0.2.0"
PARSER_VERSION = "6"
"""The version of the parser's behaviour, which is stored with every call. It rises when the parser reads some
input differently.
"""

__all__ = [
    "CODES",
    "DEFINITION_CODES",
    "DIALECTS",
    "LENIENT",
    "PARSER_VERSION",
    "Cardinality",
    "CheckedCall",
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
    "check_call",
    "clean_tool_name",
    "definition_findings",
    "extract_tool_calls",
    "leaked_tool_calls",
    "outcome_of",
    "parse_arguments",
]
