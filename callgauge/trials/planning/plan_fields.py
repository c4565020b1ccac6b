"""Declares the keys of a plan with their allowed values and descriptions. The plan's reader and the JSON
Schema use them.
"""

from __future__ import annotations

from typing import get_args

from callgauge.checked_files.field_types import (
    REQUIRED,
    Address,
    AnyTable,
    Choice,
    Duration,
    Field,
    FieldType,
    Flag,
    KeyedTable,
    ListOf,
    NamedTables,
    Number,
    Schema,
    Text,
    declare_table,
)
from callgauge.gateway import WIRES
from callgauge.trials.planning.foreign_tasks import FOREIGN_FORMATS, OWN_FORMAT
from callgauge.trials.planning.plan import ABOVE_ZERO, Budget, MeasurePlan, StrategyChoice, TokenPrice
from lenient import Policy

FUNCTION = Text('write "module:function"', r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
_NAME = Text(
    "write letters (a to z), digits, `.`, `_` and `-`, at most 64, the first a letter or a digit",
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}",
)
_TOOL_NAME = Text("write the tool's name")
_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
_STRATEGY = Choice(get_args(StrategyChoice))
_POLICY = Choice(tuple(Policy))
_COMPENSATIONS = Number(0, 20, is_whole=True)


def _one_or_more(item: FieldType) -> ListOf:
    return ListOf(item, takes_one=True)


_RUN = KeyedTable(
    {
        "repeats": Field(
            Number(1, 1000, is_whole=True), "Trials per task and variant; more tasks beat more repeats.", 1
        ),
        "seed": Field(
            Number(0, 2**63 - 1, is_whole=True), "The seed for the order of tasks and variants.", 0
        ),
        "max_steps": Field(Number(1, 1000, is_whole=True), "The maximum of replies in a trial.", 8),
        "compensations": Field(
            _one_or_more(_COMPENSATIONS),
            "How often the model gets a message about an unreadable reply; a list makes variants.",
            (1,),
        ),
        "accept": Field(
            _one_or_more(_POLICY),
            "The policy for running tools: strict, safe or lenient; a list makes variants.",
            (Policy.SAFE,),
        ),
        "lossy": Field(Flag(), "Run tools even with arguments that lost meaning in a repair.", False),
        "timeout": Field(Duration(), "How long a tool may take, such as 60s.", 60.0),
        "template": Field(
            _one_or_more(Flag()),
            "Whether to add the sentence on calling tools to the prompt; a list makes variants.",
            (True,),
        ),
    }
)
_ENDPOINT = KeyedTable(
    {
        "wire": Field(Choice(tuple(WIRES)), "The format that the server speaks.", "openai-chat"),
        "url": Field(Address(), "The base URL, before the API's own path.", REQUIRED),
        "key": Field(
            Text(
                'write "env:NAME", the environment variable with the key; a plan contains no keys',
                f"env:{_VARIABLE}",
                is_secret=True,
            ),
            "env:NAME, the environment variable with the key.",
        ),
        "server": Field(
            Text(),
            "The server software, such as llama.cpp, vllm, ollama.",
        ),
        "stream": Field(Flag(), "Stream answers; false if the server leaves calls out of streams.", True),
        "concurrency": Field(Number(1, 1000, is_whole=True), "The number of parallel requests.", 4),
        "requests_per_minute": Field(ABOVE_ZERO, "The maximum of requests per minute."),
        "tokens_per_minute": Field(ABOVE_ZERO, "The maximum of tokens per minute."),
    }
)
_MODEL = KeyedTable(
    {
        "endpoint": Field(Text(), "The name of its endpoint in this plan.", REQUIRED),
        "model": Field(Text(), "The model's name, as the server knows it.", REQUIRED),
        "sampling": Field(
            KeyedTable(
                {
                    "temperature": Field(Number(0, 10), "The temperature."),
                    "top_p": Field(Number(0, 1), "The nucleus sampling threshold."),
                    "max_tokens": Field(Number(1, is_whole=True), "The maximum of tokens in a reply."),
                    "seed": Field(Number(0, 2**63 - 1, is_whole=True), "Sent if the API supports it."),
                }
            ),
            "The sampling settings.",
        ),
        "price": Field(
            declare_table(TokenPrice),
            "The price. Default: Callgauge's price list, if the model is in it.",
        ),
        "capabilities": Field(
            KeyedTable(
                {
                    "supports_tool_use": Field(Flag(), "Calls tools natively."),
                    "supports_parallel_tools": Field(Flag(), "Makes several calls in a reply."),
                    "tool_id_pattern": Field(Text(), "A regular expression that ids of calls match."),
                    "allows_midturn_system": Field(Flag(), "Takes system messages within a conversation."),
                    "streams_calls": Field(Flag(), "Streams contain calls; false asks without streaming."),
                    "keeps_argument_text": Field(
                        Flag(), "The server passes on arguments as the model wrote them."
                    ),
                }
            ),
            "What is declared of the model, and so never asked.",
        ),
        "body": Field(AnyTable(), "Laid over every request, for what only one provider knows."),
    }
)
_PROMPT = KeyedTable(
    {
        "name": Field(Text(), "The prompt's name in the logs; its key here without it."),
        "version": Field(Text(), "The prompt's version in the logs."),
        "file": Field(Text(), "A file with the prompt, next to the plan."),
        "text": Field(Text(may_be_empty=True), "The prompt itself."),
    },
    exactly_one=(("file", "text"),),
)
_DEFINITIONS = KeyedTable(
    {
        "files": Field(
            _one_or_more(Text()), "Files with definitions in any format, next to the plan.", REQUIRED
        )
    }
)
_TOOL = KeyedTable(
    {
        "answers": Field(Choice(("recorded",)), "The answers that the tasks contain."),
        "function": Field(FUNCTION, "A Python function, module:function, also searched next to the plan."),
        "server": Field(Text(), "The name of an MCP server in this plan."),
        "default": Field(Text(may_be_empty=True), "The result where no recorded answer fits."),
    },
    exactly_one=(("answers", "function", "server"),),
)
_SERVER = KeyedTable(
    {
        "command": Field(ListOf(Text(may_be_empty=True)), "The program and its arguments."),
        "url": Field(Address(), "The address of a server that runs."),
        "environment": Field(
            ListOf(Text("write the name of a variable", _VARIABLE), fewest=0),
            "Names of environment variables that the program gets.",
            (),
        ),
    },
    exactly_one=(("command", "url"),),
)
_ARM = KeyedTable(
    {
        "name": Field(
            Text(
                "write letters (a to z), digits, `.`, `_`, `+` and `-`, at most 100, "
                "the first a letter or a digit",
                r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}",
            ),
            "The variant's name and folder. Default: made from what differs.",
        ),
        "model": Field(Text(), "A model of this plan.", REQUIRED),
        "prompt": Field(Text(), "A prompt of this plan."),
        "definitions": Field(Text(), "A set of definitions of this plan."),
        "strategy": Field(_STRATEGY, "How calls are made.", "auto"),
        "compensations": Field(_COMPENSATIONS, "As in [run]."),
        "accept": Field(_POLICY, "As in [run]."),
        "template": Field(Flag(), "As in [run]."),
    }
)
_ARMS = KeyedTable(
    {
        "models": Field(ListOf(Text()), "Models of this plan; all without it."),
        "prompts": Field(ListOf(Text()), "Prompts of this plan; all without it."),
        "definitions": Field(ListOf(Text()), "Sets of definitions of this plan; all without it."),
        "strategy": Field(_one_or_more(_STRATEGY), "auto, tool_use or json_fallback; a list makes variants."),
        "only": Field(ListOf(_ARM), "Single variants, [[arms.only]], instead of all combinations."),
    }
)
PLAN = KeyedTable(
    {
        "name": Field(Text(), "The trial's name.", REQUIRED),
        "question": Field(Text(may_be_empty=True), "What the trial is to find out; shown on its page.", ""),
        "measure": Field(declare_table(MeasurePlan), "What is measured, decided before the run.", REQUIRED),
        "run": Field(_RUN, "How each trial is run."),
        "budget": Field(declare_table(Budget), "Caps; the first that is reached ends the run."),
        "endpoints": Field(NamedTables(_ENDPOINT, _NAME), "The servers.", REQUIRED),
        "models": Field(NamedTables(_MODEL, _NAME), "The models.", REQUIRED),
        "prompts": Field(NamedTables(_PROMPT, _NAME), "The system prompts."),
        "definitions": Field(NamedTables(_DEFINITIONS, _NAME), "Sets of tool definitions."),
        "tools": Field(NamedTables(_TOOL, _TOOL_NAME), "Where results of tools come from; else recorded."),
        "servers": Field(NamedTables(_SERVER, _NAME), "MCP servers."),
        "tasks": Field(
            KeyedTable(
                {
                    "file": Field(Text(), "The file of tasks, one per line, next to the plan.", REQUIRED),
                    "format": Field(
                        Choice((OWN_FORMAT, *FOREIGN_FORMATS)),
                        "Its format. Default: recognised by its content.",
                    ),
                }
            ),
            "The tasks.",
            REQUIRED,
        ),
        "arms": Field(_ARMS, "What is compared."),
    }
)


def plan_schema() -> Schema:
    """Return the JSON Schema of a plan for editors (draft 7)."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A plan of Callgauge's trials",
        **PLAN.to_schema(),
    }
