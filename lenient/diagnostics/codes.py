"""The diagnostic codes of the parser: stage, severity, meaning, consequences, and a tested example.

A code names the defect in the input and is never reused. The severity tells how certain the interpretation
is: `note` = the meaning is provably unchanged, `warning` = a guess, `error` = rejected. A `lossy` code means
that meaning was lost or invented: ask the user before you call a tool with such arguments.

The string "true" becomes true, with or without a definition. Without a definition this conversion is a guess,
so the severity is always a warning.
"""

# ruff: noqa: E501  a row of the table is read across: summary and example on one line, the reason on the next

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Stage(StrEnum):
    """The stage of parsing that reports a diagnostic. The members are in the order of the stages."""

    UNWRAP = "unwrap"
    REPAIR = "repair"
    COERCE = "coerce"
    CHECK = "check"


class Severity(StrEnum):
    """How certain an interpretation is, from the mildest severity to the worst."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """The rank of the severity: 0 for a note, 1 for a warning, 2 for an error."""
        return _RANKS[self]


_RANKS = {Severity.NOTE: 0, Severity.WARNING: 1, Severity.ERROR: 2}


@dataclass(frozen=True, slots=True)
class Example:
    """Raw arguments that cause a diagnostic.

    If `properties` is missing, the arguments are parsed without a tool definition.
    """

    raw: str | bytes
    properties: Mapping[str, Any] | None = None
    required: tuple[str, ...] = ()
    with_defaults: bool = False  # also apply the declared defaults
    called: str | None = None  # the called tool name, which differs from the offered tool `example`
    is_text: bool = False  # `raw` is a model's text that contains a call


@dataclass(frozen=True, slots=True)
class Code:
    """One diagnostic code. `summary` explains what happened, and `why` explains the consequences."""

    name: str
    stage: Stage
    severity: Severity
    lossy: bool
    summary: str
    why: str
    example: Example


def _index_rows(*rows: Code) -> dict[str, Code]:
    return {row.name: row for row in rows}


_U, _R, _C, _K = Stage.UNWRAP, Stage.REPAIR, Stage.COERCE, Stage.CHECK
_NOTE, _WARN, _ERR = Severity.NOTE, Severity.WARNING, Severity.ERROR
_S: dict[str, Any] = {"type": "string"}
_I: dict[str, Any] = {"type": "integer"}
_F: dict[str, Any] = {"type": "number"}
_B: dict[str, Any] = {"type": "boolean"}
_O: dict[str, Any] = {"type": "object"}
_L: dict[str, Any] = {"type": "array"}

_UNWRAP_ROWS = (
    Code("invalid_utf8", _U, _WARN, True, "Bytes that are not UTF-8 became the replacement character.",
         "The model or server sent bytes that are not valid UTF-8 text, so their meaning is unknown.", Example(b'{"a": "caf\xe9"}')),
    Code("byte_order_mark", _U, _NOTE, False, "A byte order mark before the value was skipped.",
         "A byte order mark usually means that the text passed through a file or a pipe.", Example('\ufeff{"a": 1}')),
    Code("empty_arguments", _U, _NOTE, False, "Blank text was read as an empty object.",
         "Some models send no text when a tool has no parameters.", Example("  ")),
    Code("code_fence_removed", _U, _NOTE, False, "A Markdown code fence around the value was removed.",
         "The model formatted its answer for a person, not for a program.", Example('```json\n{"a": 1}')),
    Code("tag_removed", _U, _NOTE, False, "A tag around the value was removed.",
         "The tags of a prompt or chat template often appear in the model's output.", Example('<arguments>{"a": 1}</arguments>')),
    Code("tool_name_cleaned", _U, _WARN, False, "Tokens of the model's own format, or a namespace, were removed from the tool's name.",
         "A server or the model added these characters, because no tool with the longer name was offered.",
         Example("{}", {}, called="example<|channel|>json")),
    Code("narration_removed", _U, _WARN, False, "Text around the value was ignored.",
         "The model wrote text in addition to the call; the object in the text is read as the arguments.",
         Example('Sure, here it is: {"a": 1}')),
    Code("layout_newlines_removed", _U, _WARN, False, "A line break after the opening tag and before the closing tag of a parameter was removed.",
         "The model's call format does not define such line breaks, so they could be part of the value.",
         Example('<invoke name="example"><parameter name="a">\nx\n</parameter></invoke>', {"a": _S}, is_text=True)),
    Code("xml_entities_decoded", _U, _WARN, False, "XML entities in a parameter between tags, or in an object whose quotes are entities, were decoded.",
         "The model escaped characters as in XML, although its call format is not XML.",
         Example('<invoke name="example"><parameter name="a">x &lt; y</parameter></invoke>', {"a": _S}, is_text=True)),
    Code("string_encoding_removed", _U, _NOTE, False, "The value was JSON text inside a JSON string and was decoded.",
         "The arguments were encoded once too often.", Example('"{\\"a\\": 1}"')),
    Code("partial_escaping_removed", _U, _WARN, False, "Quotes were escaped as in a string, although the text had no outer quotes.",
         "The arguments were encoded as a JSON string, but the quotes around the string are missing.", Example('{\\"a\\": 1}')),
    Code("outer_quotes_removed", _U, _WARN, False, "Quotes around an unescaped object were removed.",
         "The object was put in quotes without being encoded.", Example('"{"a": 1}"')),
    Code("empty_object_skipped", _U, _NOTE, False, "An empty object before the real one was skipped.",
         "If a program joins the events of a stream, the text starts with the empty input of the first event.", Example('{}{"a": 1}')),
    Code("repeated_value_skipped", _U, _WARN, False, "The same value was sent several times, and the most complete one was kept.",
         "If a program joins the events of a stream wrongly, values appear twice.", Example('{"a": 1}{"a": 1}')),
    Code("call_envelope_removed", _U, _WARN, False, "A whole call was sent instead of its arguments; its arguments were used.",
         "The call names this tool, and the definition has no such parameters.",
         Example('{"name": "example", "arguments": {"a": 1}}', {"a": {"type": "integer"}})),
    Code("further_value_dropped", _U, _WARN, True, "The text contained a second, different value, which was dropped.",
         "Two calls were joined in one text, so it is unknown which of them the model meant.", Example('{"a": 1}{"a": 2}')),
)  # fmt: skip

_REPAIR_ROWS = (
    Code("trailing_comma", _R, _NOTE, False, "A comma before a closing bracket was dropped.",
         "Most programming languages allow a comma before a closing bracket, but JSON does not.", Example('{"a": 1,}')),
    Code("extra_comma", _R, _NOTE, False, "A comma without a value before it was dropped.",
         "There is no value between the two commas.", Example('{"a": 1,, "b": 2}')),
    Code("missing_comma", _R, _WARN, False, "A comma between two values was added.",
         "The two values can be separated without a comma, because each has a clear end.", Example('{"a": 1 "b": 2}')),
    Code("missing_colon", _R, _WARN, False, "A colon between a key and its value was added.",
         "The position of the text shows that it is a key.", Example('{"a" 1}')),
    Code("wrong_separator", _R, _WARN, False, "Other characters were read as a colon or comma.",
         "Other languages use `=`, `=>` or `;` where JSON has a colon or a comma.", Example('{"a" => 1}')),
    Code("fullwidth_punctuation", _R, _NOTE, False, "Full-width punctuation was read as its ASCII form.",
         "Input methods for Chinese and Japanese write full-width punctuation.", Example('{"a"：1}')),
    Code("comment_removed", _R, _NOTE, False, "A comment between values was skipped.",
         "JSON has no comments.", Example('{"a": 1 /* one */}')),
    Code("control_character_removed", _R, _NOTE, False, "A control character between values was skipped.",
         "Control characters between values have no meaning.", Example('{"a":\x00 1}')),
    Code("nonstandard_blank", _R, _NOTE, False, "A blank that JSON does not allow was skipped between values.",
         "Editors and input methods write no-break, wide and zero-width blanks.", Example('{"a":\xa01}')),
    Code("single_quotes", _R, _NOTE, False, "Text in single quotes was read as a string.",
         "Python and JavaScript write strings this way.", Example("{'a': 1}")),
    Code("smart_quotes", _R, _NOTE, False, "Text in typographic quotes was read as a string.",
         "Editors write typographic quotes, and models learn them from edited text.", Example("{“a”: 1}")),
    Code("token_quotes", _R, _NOTE, False, "Text between two tokens of the model's own format was read as a string.",
         "The server took the model's notation for JSON.", Example('{a:<|"|>x<|"|>}')),
    Code("backtick_quotes", _R, _NOTE, False, "Text in back-ticks was read as a string.",
         "JavaScript and Markdown use back-ticks around text.", Example('{"a": `x`}')),
    Code("triple_quotes", _R, _NOTE, False, "Text in triple quotes was read as a string.",
         "Python writes long text this way.", Example('{"a": """x"""}')),
    Code("string_prefix", _R, _NOTE, False, "A Python string prefix, or the name of a container's type (`set(…)`), was skipped.",
         "`r\"…\"` and `b'…'` are not JSON.", Example('{"a": r"x"}')),
    Code("string_concatenation", _R, _WARN, False, "Several strings in a row, or joined by `+`, were read as one string.",
         "The text is an expression of another language, but its value is certain.", Example('{"a": "x" + "y"}')),
    Code("unquoted_key", _R, _NOTE, False, "A key without quotes was read as a string.",
         "JavaScript allows keys without quotes.", Example("{a: 1}")),
    Code("emphasis_removed", _R, _NOTE, False, "Asterisks or brackets around a key were removed.",
         "The model formatted its answer for a person, not for a program.", Example('{**"a"**: 1}')),
    Code("unquoted_string", _R, _WARN, False, "A word without quotes was read as a string.",
         "The end of a string without quotes is a guess.", Example('{"city": Paris}')),
    Code("nonstandard_literal", _R, _NOTE, False, "True, False, None, undefined or a similar word was read as a JSON literal.",
         "Python and JavaScript write these literals differently from JSON.", Example('{"a": True}')),
    Code("nonstandard_number", _R, _NOTE, False, "A number in a notation that JSON does not allow was read.",
         "Numbers such as `.5`, `+1`, `0x1F` and `1_000` have a clear meaning in other languages.", Example('{"a": .5}')),
    Code("thousands_separator", _R, _WARN, False, "Commas inside a number were read as thousands separators.",
         "A comma between digits could also separate two values.", Example('{"a": 1,000}')),
    Code("non_finite_number", _R, _WARN, False, "The value is NaN, Infinity or a number that is too large.",
         "JSON cannot represent such a number; only a text parameter can keep it.", Example('{"a": NaN}', {"a": _S})),
    Code("tuple_as_array", _R, _NOTE, False, "A Python tuple or set was read as an array.",
         "JSON has only arrays, so the kind of sequence does not matter.", Example('{"a": (1, 2)}')),
    Code("raw_control_character", _R, _NOTE, False, "Raw newlines, tabs or other control characters inside a string were kept.",
         "JSON requires an escape for such characters, but their meaning is clear.", Example('{"a": "x\ny"}')),
    Code("invalid_escape", _R, _WARN, False, "A backslash that starts no JSON escape was kept as a backslash.",
         "Windows paths and regular expressions are written unescaped.", Example('{"a": "\\d+"}')),
    Code("quote_escape", _R, _NOTE, False, "An escaped quote that needs no escape was read as the quote.",
         "Python and JavaScript escape a quote character inside a string with the same quotes.", Example('{"a": "it\\\'s"}')),
    Code("lone_surrogate", _R, _WARN, True, "Half of a surrogate pair became the replacement character.",
         "One half of a character is missing, and the other half cannot be stored as text.", Example('{"a": "\\ud83d"}')),
    Code("unescaped_inner_quote", _R, _WARN, False, "Quotes inside a string were not escaped and were kept as text.",
         "The end of this string is a guess.", Example('{"a": "say "hi" now"}')),
    Code("extra_quote", _R, _WARN, True, "An extra quote was skipped.",
         "The model may have written the quote twice, or meant it as part of the text.", Example('{"a"": 1}')),
    Code("ambiguous", _R, _WARN, True, "The text can be read in two ways; one of them was chosen.",
         "Neither the text nor the tool definition shows which reading is right.", Example('{"a": "say "hi", "b": 1, "c": "x"}')),
    Code("escaped_closing_quote", _R, _WARN, False, "A backslash before the closing quote did not escape it.",
         "In a Windows path the backslash is part of the text; elsewhere it is a mistake of the model.", Example('{"a": "C:\\\\dir\\"}')),
    Code("stray_text_dropped", _R, _WARN, True, "Words before, between or after keys and values were dropped.",
         "The dropped words are neither a name nor a value, so their meaning is lost.", Example('{"a": "x" foo}')),
    Code("missing_opening_quote", _R, _WARN, False, "A string without an opening quote was read.",
         "The start of this string is a guess.", Example('{"a": x"}')),
    Code("missing_closing_quote", _R, _WARN, True, "A string without a closing quote was ended where the next key or value begins.",
         "The end of a string without a closing quote is a guess.", Example('{"a": "x, "b": 1}')),
    Code("missing_opening_tag", _R, _WARN, False, "A call without its opening token was read.",
         "A server or the model left out the opening token; only the closing token is in the text.",
         Example("<function=example><parameter=a>x</parameter></function></tool_call>", {"a": _S}, is_text=True)),
    Code("missing_closing_tag", _R, _WARN, False, "A parameter without its closing tag was ended where the next tag begins.",
         "The next tag starts another declared parameter or ends the call.",
         Example('<invoke name="example"><parameter name="a">x</invoke>', {"a": _S}, is_text=True)),
    Code("unclosed_string", _R, _WARN, True, "The text was cut off within a string, and the string was closed.",
         "The text was cut off, so the rest of the arguments is lost.", Example('{"a": "hel')),
    Code("truncated_number", _R, _WARN, True, "A cut-off text ends with a number; digits may be missing.",
         "The number may be incomplete: 12 may be the start of 120.", Example('{"a": 12')),
    Code("truncated_literal", _R, _WARN, True, "A cut-off true, false or null was completed.",
         "The text was cut off within true, false or null.", Example('{"a": tr')),
    Code("truncated_member_dropped", _R, _WARN, True, "The text was cut off after a key, and the key was dropped.",
         "The model did not send a value for this key.", Example('{"a": 1, "b')),
    Code("truncated_text", _R, _WARN, True, "The text was cut off before a further key or value.",
         "The text was cut off, so the rest of the arguments is lost.", Example('{"a": 1,')),
    Code("missing_value", _R, _WARN, True, "A key without a value was given null.",
         "The model did not send a value for this key.", Example('{"a": , "b": 1}')),
    Code("missing_closer", _R, _WARN, False, "Missing closing brackets were added.",
         "The text was cut off, or the model lost count.", Example('{"a": [1, 2}')),
    Code("wrong_closer", _R, _WARN, False, "A closing bracket of the wrong kind was read as the right one.",
         "The model closed another kind of bracket than it had opened.", Example("[1}")),
    Code("wrong_opener", _R, _WARN, False, "A square or round bracket before a key was read as a brace.",
         "Some other languages use square or round brackets for objects.", Example('["a": 1]')),
    Code("doubled_braces", _R, _WARN, False, "Doubled braces were read as single ones.",
         "Prompt templates use doubled braces for literal braces, and models copy the doubled braces.", Example('{{"a": 1}}')),
    Code("foreign_escape", _R, _NOTE, False, "A hexadecimal escape of Python or JavaScript was read.",
         "`\\x41` in single quotes or back-ticks is one character.", Example("{'a': '\\x41'}")),
    Code("extra_closer", _R, _WARN, False, "A closing bracket without an opening one was skipped.",
         "The model wrote more closing than opening brackets.", Example('{"a": 1}}')),
    Code("extra_opener", _R, _WARN, False, "An opening bracket without a closing one was skipped.",
         "The model wrote more opening than closing brackets.", Example('{"a": [[1, 2]}', {"a": {"type": "array", "items": _I}})),
    Code("missing_opener", _R, _WARN, False, "An opening bracket was added.",
         "The text starts with a key, so an opening brace is missing.", Example('"a": 1}')),
    Code("key_value_lines", _R, _WARN, False, "Names and values in `key=value` form, or in elements of XML, were read as an object.",
         "The text has names and values like a call, but tool arguments must be JSON.", Example("path=/a\nlimit=10")),
    Code("yaml_block", _R, _WARN, False, "A YAML block was read as an object.",
         "Every line of the text is valid YAML, but tool arguments must be JSON.", Example("path: /a\nlimit: 10")),
    Code("duplicate_key", _R, _WARN, True, "A key was sent twice with different values; the last one counts.",
         "The text is valid JSON, but one of the two values is lost, and most parsers do not report this.", Example('{"a": 1, "a": 2}')),
    Code("repeated_member", _R, _NOTE, False, "A key was sent twice with the same value.",
         "Nothing is lost, because both values are equal.", Example('{"a": 1, "a": 1}')),
    Code("json_parse_error", _R, _ERR, False, "The text is not JSON and could not be repaired.",
         "The parser does not invent arguments for a text that contains no object.", Example("call me maybe")),
    Code("too_many_findings", _R, _ERR, False, "The text needs more repairs than any real call.",
         "The parser stops, because further repairs would be guesses.", Example('{"a": [' + "1,," * 10_001 + "1]}")),
)  # fmt: skip

_COERCE_ROWS = (
    Code("non_string_literal_retained", _C, _WARN, False, "A value that is not a string was kept as its JSON text.",
         "The tool needs text, but the model sent a number, a boolean, or an object for a text that is JSON.", Example('{"a": 42}', {"a": _S})),
    Code("object_retained_as_text", _C, _WARN, True, "An object or array was kept as its JSON text.",
         "The tool needs text, so the text that the model meant may be inside the object or array.", Example('{"a": ["x"]}', {"a": _S})),
    Code("string_literal_converted_to_boolean", _C, _WARN, False, "The text true or false became a boolean.",
         "Models often put quotes around true and false.", Example('{"a": "True"}', {"a": _B})),
    Code("number_coerced_to_boolean", _C, _WARN, False, "0 or 1 became a boolean.",
         "C uses these numbers; any other number is invalid.", Example('{"a": 1}', {"a": _B})),
    Code("string_literal_converted_to_null", _C, _WARN, False, "Without a tool definition, the text null became null.",
         "Without a tool definition, it is unknown whether the parameter is text.", Example('{"a": "null"}')),
    Code("number_coerced_to_integer", _C, _NOTE, False, "A whole number written with a fraction became an integer.",
         "3.0 and 3 are the same number.", Example('{"a": 3.0}', {"a": _I})),
    Code("fractional_number_truncated_to_integer", _C, _WARN, True, "A fraction was cut off to give an integer.",
         "The value changes: 3.7 is not 3.", Example('{"a": 3.7}', {"a": _I})),
    Code("string_literal_converted_to_integer", _C, _NOTE, False, "Text with an integer became an integer.",
         "A number in quotes has a clear meaning.", Example('{"a": "42"}', {"a": _I})),
    Code("string_literal_converted_to_number", _C, _NOTE, False, "Text with a number became a number.",
         "A number in quotes has a clear meaning.", Example('{"a": "4.2"}', {"a": _F})),
    Code("string_literal_converted_to_object", _C, _NOTE, False, "Text with an object became the object.",
         "Models often encode inner objects and arrays as JSON text.", Example('{"a": "{\\"b\\": 1}"}', {"a": _O})),
    Code("string_literal_converted_to_array", _C, _NOTE, False, "Text with an array became the array.",
         "Models often encode inner objects and arrays as JSON text.", Example('{"a": "[1, 2]"}', {"a": _L})),
    Code("scalar_coerced_to_list", _C, _WARN, False, "A single value became a list with one item.",
         "The model sent a single item, but the parameter is a list.", Example('{"a": "x"}', {"a": {"type": "array", "items": _S}})),
    Code("separated_text_coerced_to_list", _C, _WARN, True, "Text with commas, semicolons or line breaks became a list with one item.",
         "The text may be several items, separated by commas, semicolons or line breaks.", Example('{"a": "x, y"}', {"a": {"type": "array", "items": _S}})),
    Code("timestamp_without_offset", _C, _WARN, False, "A timestamp without an offset was read as UTC.",
         "The model may have meant another time zone.", Example('{"a": "2025-01-02T03:04:05"}', {"a": {"type": "string", "format": "date-time"}})),
    Code("timestamp_normalised", _C, _NOTE, False, "Blanks around a timestamp or before its offset were removed.",
         "ISO 8601 and RFC 3339 allow no blanks around a timestamp or before its offset.", Example('{"a": "2025-01-02T03:04:05 Z"}', {"a": {"type": "string", "format": "date-time"}})),
    Code("epoch_converted_to_timestamp", _C, _WARN, False, "A number was read as seconds or milliseconds since 1970.",
         "The size of the number shows whether it counts seconds or milliseconds.", Example('{"a": 1735786800}', {"a": {"type": "string", "format": "date-time"}})),
    Code("enum_case_normalised", _C, _NOTE, False, "An allowed value in another case, or with blanks around it, was replaced by its declared spelling.",
         "Only the case or the surrounding blanks of the value differ from an allowed value.", Example('{"a": "READ"}', {"a": {"enum": ["read", "write"]}})),
    Code("parameter_name_normalised", _C, _WARN, False, "A parameter with another spelling was renamed to the declared name.",
         "The names differ only in case, underscores, or signs around the name.", Example('{"filePath": "x"}', {"file_path": _S})),
    Code("arguments_envelope_removed", _C, _WARN, False, "The arguments were inside an outer object with one undeclared name, which was removed.",
         "The model put the arguments into an outer object; the names in the inner object are declared.", Example('{"arguments": {"a": "x"}}', {"a": _S})),
    Code("optional_null_dropped", _C, _NOTE, False, "A null for an optional parameter was read as absent.",
         "With strict schemas, models must send every parameter, so they send null for absent ones.", Example('{"a": null}', {"a": _S})),
    Code("default_applied", _C, _NOTE, False, "The declared default was added, as requested.",
         "The caller asked to fill in the defaults of absent parameters.", Example("{}", {"a": {"type": "integer", "default": 5}}, with_defaults=True)),
    Code("default_not_applied", _C, _WARN, False, "The declared default does not fit its own declaration and was left out.",
         "The definition contradicts itself, but the tool may fill in the value itself.",
         Example("{}", {"a": {"type": "integer", "default": "many"}}, with_defaults=True)),
    Code("unsupported_boolean_literal", _C, _ERR, False, "The value cannot be read as true or false.",
         "A wrong guess for a boolean can do harm, so the model should be asked again.", Example('{"a": "yes"}', {"a": _B})),
    Code("unsupported_integer_literal", _C, _ERR, False, "The value is not an integer.",
         "The value cannot be converted to an integer.", Example('{"a": "many"}', {"a": _I})),
    Code("unsupported_number_literal", _C, _ERR, False, "The value is not a number that JSON can represent.",
         "The value cannot be converted to a finite number.", Example('{"a": "NaN"}', {"a": _F})),
    Code("unsupported_object_literal", _C, _ERR, False, "The value is not an object.",
         "The value cannot be converted to an object.", Example('{"a": 1}', {"a": _O})),
    Code("unsupported_array_literal", _C, _ERR, False, "The value is not an array.",
         "The value cannot be converted to a list.", Example('{"a": [null]}', {"a": {"type": "array", "items": _L}})),
    Code("unsupported_timestamp_literal", _C, _ERR, False, "The value is not an ISO 8601 timestamp.",
         "A wrongly guessed date would be worse than an error.", Example('{"a": "soon"}', {"a": {"type": "string", "format": "date-time"}})),
    Code("unsupported_uri_literal", _C, _ERR, False, "The value is not text.",
         "A URI is text.", Example('{"a": 1}', {"a": {"type": "string", "format": "uri"}})),
    Code("unsupported_string_literal", _C, _ERR, False, "The value cannot be text.",
         "Null is not text.", Example('{"a": [null]}', {"a": {"type": "array", "items": _S}})),
)  # fmt: skip

_CHECK_ROWS = (
    Code("arguments_must_be_object", _K, _ERR, False, "The value is not an object.",
         "Arguments have names, so they must be an object.", Example("[1, 2]")),
    Code("unknown_tool", _K, _ERR, False, "The model called a tool that it was not offered.",
         "The agent cannot run the call. Often the name is misspelt or belongs to another agent.",
         Example("{}", {}, called="exampel")),
    Code("tool_definition_missing", _K, _NOTE, False, "The arguments were not checked, because the tool's definition is unknown.",
         "Without a tool definition, it is unknown whether the values are valid.", Example('{"a": 1}')),
    Code("missing_required", _K, _ERR, False, "A required parameter was not sent.",
         "The tool cannot run without a value for this parameter.", Example("{}", {"a": _S}, ("a",))),
    Code("null_not_allowed", _K, _ERR, False, "Null was sent for a required parameter.",
         "The tool cannot run without a value for this parameter.", Example('{"a": null}', {"a": _S}, ("a",))),
    Code("unknown_parameter", _K, _WARN, False, "A parameter that is not declared was kept.",
         "The tool may ignore an undeclared parameter, so its meaning may be lost.", Example('{"b": 1}', {"a": _S})),
    Code("enum_out_of_range", _K, _ERR, False, "The value is not one of the allowed values.",
         "The tool accepts no other value.", Example('{"a": "erase"}', {"a": {"enum": ["read", "write"]}})),
    Code("const_mismatch", _K, _ERR, False, "The value is not the only value that the definition allows.",
         "The tool accepts no other value.", Example('{"a": 2}', {"a": {"const": 1}})),
    Code("number_out_of_bounds", _K, _ERR, False, "The number is outside the declared bounds, or not a multiple of the declared step.",
         "The tool would reject this value.", Example('{"a": 11}', {"a": {"type": "integer", "maximum": 10}})),
    Code("size_out_of_bounds", _K, _ERR, False, "The text, list or object is shorter or longer than declared.",
         "The tool would reject this value.", Example('{"a": ""}', {"a": {"type": "string", "minLength": 1}})),
    Code("items_not_unique", _K, _ERR, False, "A list that must have unique items contains an item twice.",
         "The tool would reject this value.", Example('{"a": [1, 1]}', {"a": {"type": "array", "uniqueItems": True}})),
    Code("pattern_mismatch", _K, _ERR, False, "The text does not match the declared pattern.",
         "The tool would reject this value.", Example('{"a": "x1"}', {"a": {"type": "string", "pattern": "^[0-9]+$"}})),
    Code("pattern_not_checked", _K, _NOTE, False, "The declared pattern was not checked.",
         "The pattern is not a supported regular expression, or it can run forever.",
         Example('{"a": "x"}', {"a": {"type": "string", "pattern": "(a+)+$"}})),
    Code("format_mismatch", _K, _WARN, False, "The text does not match the declared format, but was kept.",
         "A format is a hint, not a rule.", Example('{"a": "x"}', {"a": {"type": "string", "format": "email"}})),
    Code("uri_not_absolute", _K, _WARN, False, "The text is not an absolute URI, but was kept.",
         "The tool may still be able to use a relative URI.", Example('{"a": "x y"}', {"a": {"type": "string", "format": "uri"}})),
    Code("value_not_allowed", _K, _ERR, False, "The definition rules this value out, or allows none here.",
         "The schema is `false`, or the value matches a `not` or does not match an `allOf`.",
         Example('{"a": "root"}', {"a": {"type": "string", "not": {"const": "root"}}})),
    Code("contains_mismatch", _K, _ERR, False, "Too few or too many items of the list match `contains`.",
         "The tool needs a list with the declared items.",
         Example('{"a": ["x"]}', {"a": {"type": "array", "contains": {"const": "main"}}})),
    Code("property_name_not_allowed", _K, _ERR, False, "A field has a name that the definition does not allow.",
         "The tool would not find the field, or would reject the object.",
         Example('{"a": {"no no": 1}}', {"a": {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}}})),
    Code("several_branches_fit", _K, _WARN, False, "The value matches several branches but must match exactly one; the first is used.",
         "`oneOf` requires exactly one matching schema, so the intended schema is a guess.",
         Example('{"a": 1}', {"a": {"oneOf": [{"type": "integer"}, {"type": "number"}]}})),
    Code("schema_keyword_unsupported", _K, _NOTE, False, "The definition uses a keyword that is not checked.",
         "The parser does not know this keyword, so the value may be invalid.", Example('{"a": 1}', {"a": {"$ref": "https://example.org/other.json"}})),
    Code("nested_too_deep", _K, _ERR, False, "The value is nested too deep.",
         "Tools do not accept values with so many levels, and many parsers crash on them.",
         Example('{"a": ' + "[" * 200 + "]" * 200 + "}")),
)  # fmt: skip

RETIRED = frozenset({"timestamp_truncated_to_microseconds"})
"""The codes of earlier versions, which stores may still contain. They are never used again."""

CODES: Mapping[str, Code] = _index_rows(*_UNWRAP_ROWS, *_REPAIR_ROWS, *_COERCE_ROWS, *_CHECK_ROWS)
