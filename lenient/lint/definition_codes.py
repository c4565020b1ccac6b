"""The lint codes: the problem, the reason why it causes wrong tool calls, advice, and a tested example.

The severity tells how certain the harm is. `error` = providers reject the definition, or no tool call can fit
the definition. `warning` = models measurably fail more often. `note` = the definition could be better. Codes
are never reused.
"""

# ruff: noqa: E501  a row of the table is read across: what is wrong on one line, the reason on the next

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lenient.diagnostics.codes import Severity


@dataclass(frozen=True, slots=True)
class DefinitionCode:
    """One lint code. `example` is a declaration, or a list of declarations, with this problem."""

    name: str
    severity: Severity
    summary: str
    why: str
    advice: str
    example: Mapping[str, Any] | list[Any]


def _tool(schema: Any = None, *, required: bool = False, name: str = "value", **more: Any) -> dict[str, Any]:
    parameters: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
    if schema is not None:
        parameters["properties"][name] = schema
    if required:
        parameters["required"] = [name]
    return {"name": "example", "description": "Does it.", "input_schema": parameters, **more}


_NOTE, _WARN, _ERR = Severity.NOTE, Severity.WARNING, Severity.ERROR
_D = {"description": "What it is."}
_S = {"type": "string", **_D}

_ROWS = (
    # --- the tool ---
    DefinitionCode("tool_name_refused", _ERR, "The tool's name has a character or a length that providers reject.",
        "Anthropic and OpenAI accept tool names of 1 to 64 characters: a–z, A–Z, 0–9, _ and -.",
        "Use only letters, digits, underscores and hyphens in the tool's name.", _tool(name="x", schema=_S) | {"name": "files.search"}),
    DefinitionCode("tool_name_repeated", _ERR, "Two tools have the same name.",
        "A call cannot say which of the two tools it means, and providers reject such a list of tools.", "Give each tool a different name.", [_tool(), _tool()]),
    DefinitionCode("tool_names_alike", _WARN, "Two tools' names differ only by case, underscores or hyphens.",
        "Models confuse tools with similar names.", "Rename one of the tools so that a word differs.", [_tool() | {"name": "get_file"}, _tool() | {"name": "getFile"}]),
    DefinitionCode("tool_description_missing", _WARN, "The tool has no description.",
        "Models choose a tool by its description; without a description they guess.",
        "Say in one or two sentences what the tool does, when to use it, and what it returns.", _tool() | {"description": ""}),
    DefinitionCode("description_too_long", _WARN, "A description has more than 1,024 characters.",
        "OpenAI rejects longer descriptions of tools, and models overlook the middle of long texts.",
        "Put the most important sentence first, and move the rest into the system prompt.", _tool() | {"description": "Does it. " * 200}),
    DefinitionCode("too_many_parameters", _WARN, "The tool takes more than 20 parameters.",
        "The more parameters a tool has, the more of them models leave out or mix up.", "Split the tool, or group related parameters in an object.",
        {"name": "example", "description": "Does it.", "input_schema": {"type": "object", "additionalProperties": False, "properties": {f"option_{n}": _S for n in range(21)}}}),
    DefinitionCode("arguments_not_object", _ERR, "The schema of the arguments is not of the type object.",
        "Arguments have names, so providers reject any type except object.", "Use an object with one property that has this type.",
        {"name": "example", "description": "Does it.", "input_schema": {"type": "string"}}),
    DefinitionCode("nested_deep", _WARN, "The arguments are nested more than four levels deep.",
        "Models lose count of brackets and put fields at the wrong level.", "Use fewer levels, or split the tool.",
        _tool({"type": "array", "items": {"type": "array", "items": {"type": "array", "items": {"type": "array", "items": _S}}}, **_D})),
    # --- names ---
    DefinitionCode("parameter_name_refused", _ERR, "A parameter's name has a character or a length that providers reject.",
        "Anthropic accepts parameter names of 1 to 64 characters: a–z, A–Z, 0–9, underscore, dot and hyphen.",
        "Use only letters, digits and underscores in the parameter's name.", _tool(_S, name="file path")),
    DefinitionCode("parameter_names_alike", _WARN, "Two parameters' names differ only by case, underscores or hyphens.",
        "Models confuse similar parameters, and the parser cannot correct their spelling.", "Rename one of the parameters so that a word differs.",
        {"name": "example", "description": "Does it.", "input_schema": {"type": "object", "additionalProperties": False, "properties": {"file_path": _S, "filePath": _S}}}),
    DefinitionCode("required_undeclared", _ERR, "A required parameter is not among the properties.",
        "The model must send a parameter without knowing its type or meaning, and strict providers reject the definition.",
        "Declare the parameter in `properties`, or remove it from `required`.",
        {"name": "example", "description": "Does it.", "input_schema": {"type": "object", "properties": {"a": _S}, "required": ["a", "b"], "additionalProperties": False}}),
    # --- descriptions ---
    DefinitionCode("parameter_description_missing", _WARN, "A parameter has no description.",
        "The name of a parameter does not say what it means, which format it has, and what its default is.",
        "Describe the parameter, its format, and what happens if it is absent.", _tool({"type": "string"})),
    DefinitionCode("enum_in_prose", _WARN, "A text parameter lists its only values in its description.",
        "Providers cannot restrict the output to values in a description, so models may write synonyms.", "List them as `enum`.",
        _tool({"type": "string", "description": "The mode, one of: fast, exact, fuzzy."})),
    DefinitionCode("required_contradicted", _WARN, "The description and the schema contradict each other on optional or required.",
        "Models follow either the description or the schema, so many calls are wrong.", "Change the description or the schema so that they agree.",
        _tool({"type": "string", "description": "Optional. The folder."}, required=True)),
    DefinitionCode("number_as_text", _WARN, "A text is described as a number.",
        "Models send 5 or \"5\", and a provider's check accepts \"five\".", "Declare the parameter as integer or number.",
        _tool({"type": "string", "description": "Number of results to return."})),
    DefinitionCode("boolean_as_text", _WARN, "A text is described as true or false.",
        'Models send true, "true", "yes" or "1" as they like.', "Declare it as boolean.",
        _tool({"type": "string", "description": "Whether to follow links."})),
    DefinitionCode("list_as_text", _WARN, "A text is described as a list.",
        "Models send an array, or use a separator that the tool does not expect.", "Declare the parameter as an array.",
        _tool({"type": "string", "description": "Comma-separated list of tags."})),
    DefinitionCode("json_as_text", _WARN, "A text is described as JSON.",
        "JSON within JSON must be escaped twice, which models often do wrongly.", "Declare the parameter as an object or array.",
        _tool({"type": "string", "description": "The filter as a JSON string."})),
    DefinitionCode("format_missing", _WARN, "A text that is named like a date or a time names no format.",
        "Models write dates as 3/4/25, March 4th or seconds since 1970.", "Add a `format`, or name the format in the description.",
        _tool(_S, name="start_date")),
    DefinitionCode("unit_missing", _NOTE, "A number that is named like a measure names no unit.",
        "The value 30 may mean seconds or milliseconds.", "Put the unit into the parameter's name or description.",
        _tool({"type": "integer", "description": "How long to wait."}, name="timeout")),
    # --- types ---
    DefinitionCode("type_missing", _WARN, "A parameter has no type.",
        "Every value fits, so neither the model nor a check knows which values are valid.", "Declare a type for the parameter.", _tool({"description": "The value."})),
    DefinitionCode("type_unknown", _ERR, "A type is not a JSON Schema type.",
        "Providers reject an unknown type, or accept any value for it.", "Use string, integer, number, boolean, object, array or null.",
        _tool({"type": "dict", **_D})),
    DefinitionCode("items_missing", _WARN, "An array does not declare its items.",
        "Models guess what the array contains, and Gemini and strict modes reject the definition.", "Declare the type of the `items`.", _tool({"type": "array", **_D})),
    DefinitionCode("object_free_form", _WARN, "An object declares no fields.",
        "Models invent fields, or send the object as text.", "Declare the object's properties, or the type of their values.", _tool({"type": "object", **_D})),
    DefinitionCode("object_open", _NOTE, "An object does not say whether other fields are allowed.",
        "Without `additionalProperties`, no check notices a field that the model invented.", "Add `additionalProperties: false`.",
        {"name": "example", "description": "Does it.", "input_schema": {"type": "object", "properties": {"a": _S}}}),
    DefinitionCode("branches_overlap", _WARN, "A value can fit several branches of a union.",
        "Neither the model nor the tool knows which branch a value belongs to.",
        "Give each branch a required field with a different `const`, or merge the branches.",
        _tool({"anyOf": [{"type": "object", "properties": {"a": _S}, "additionalProperties": False}, {"type": "object", "properties": {"b": _S}, "additionalProperties": False}], **_D})),
    DefinitionCode("keyword_unsupported", _NOTE, "A keyword or reference is not understood here.",
        "Callgauge does not check this keyword, and adds a note to every call.", "Replace the keyword by one that JSON Schema defines.", _tool({"$ref": "https://example.org/other.json", **_D})),
    DefinitionCode("pattern_unusable", _WARN, "A pattern is not a regular expression, or it can run forever.",
        "Callgauge does not check this pattern, and a hostile text can stop a tool that runs it.", "Write a pattern without repeated groups.",
        _tool({"type": "string", "pattern": "(a+)+$", **_D})),
    # --- values ---
    DefinitionCode("enum_empty", _ERR, "The list of allowed values is empty or not a list.",
        "No value is valid, because `enum` allows none.", "List the allowed values, or remove `enum`.", _tool({"type": "string", "enum": [], **_D})),
    DefinitionCode("enum_type_mismatch", _ERR, "An allowed value is not of the declared type.",
        "No value can match both the type and this allowed value.", "Change the type or the allowed value.", _tool({"type": "string", "enum": [1, 2], **_D})),
    DefinitionCode("default_unfit", _ERR, "The default does not fit its own schema.",
        "A call without the parameter gets a value that the schema does not allow.", "Change the default or the schema.",
        _tool({"type": "integer", "default": "ten", **_D})),
    DefinitionCode("default_required", _NOTE, "A required parameter has a default.",
        "The default is never used, because the model must send a value.", "Remove the parameter from `required`, or remove the default.",
        _tool({"type": "integer", "default": 10, **_D}, required=True)),
    DefinitionCode("example_unfit", _WARN, "An example does not fit its own schema.",
        "Models copy the examples of a schema into their calls.", "Change the example or the schema.", _tool({"type": "integer", "examples": ["ten"], **_D})),
)  # fmt: skip

DEFINITION_CODES: Mapping[str, DefinitionCode] = {row.name: row for row in _ROWS}


# --- findings ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DefinitionFinding:
    """One problem in a tool definition.

    `path` is the position in the schema: `$` for the arguments object, or for example `$.filters.year` for an
    inner field. For the tool's name and description, `path` is None. `suggested` is a JSON merge patch (RFC
    7396) for the schema at this position, or for the tool if `path` is None. If only a person can decide,
    `suggested` is a sentence.
    """

    code: str
    tool: str
    path: str | None
    detail: str | None = None
    suggested: Mapping[str, Any] | str = ""

    @property
    def severity(self) -> Severity:
        return DEFINITION_CODES[self.code].severity

    @property
    def message(self) -> str:
        """One or two English sentences that explain the problem."""
        where = self.tool if self.path is None else f"{self.tool} {self.path}"
        detail = f" ({self.detail})" if self.detail is not None else ""
        summary = DEFINITION_CODES[self.code].summary
        return f"{where}: {summary}{detail}"


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A finding without the tool and the position, which the caller adds."""

    code: str
    detail: str | None = None
    suggested: Mapping[str, Any] | str | None = None
