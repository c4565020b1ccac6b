"""The keys of a plan: what each may hold and what it says. The reader and the JSON Schema are made of it."""

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
            Number(1, 1000, is_whole=True), "Trials a task and arm; more tasks beat more repeats.", 1
        ),
        "seed": Field(Number(0, 2**63 - 1, is_whole=True), "Decides the order of tasks and arms.", 0),
        "max_steps": Field(Number(1, 1000, is_whole=True), "The most replies in a trial.", 8),
        "compensations": Field(
            _one_or_more(_COMPENSATIONS),
            "How often a reply of which nothing can be read is answered by what is wrong; a list makes arms.",
            (1,),
        ),
        "accept": Field(
            _one_or_more(_POLICY),
            "What tools run on: strict, safe or lenient; a list makes arms.",
            (Policy.SAFE,),
        ),
        "lossy": Field(Flag(), "Tools run even on arguments that lost meaning when they were mended.", False),
        "timeout": Field(Duration(), "How long a tool may take, such as 60s.", 60.0),
        "template": Field(
            _one_or_more(Flag()),
            "Whether the sentence on calling tools stands after the prompt; a list makes arms.",
            (True,),
        ),
    }
)
_ENDPOINT = KeyedTable(
    {
        "wire": Field(Choice(tuple(WIRES)), "The format that the server speaks.", "openai-chat"),
        "url": Field(Address(), "The address before the wire's own path.", REQUIRED),
        "key": Field(
            Text(
                'write "env:NAME", the environment variable that holds the key; no key is in a plan',
                f"env:{_VARIABLE}",
                is_secret=True,
            ),
            "env:NAME, the environment variable that holds the key.",
        ),
        "server": Field(
            Text(),
            "The software behind the address, such as llama.cpp, vllm, ollama: what its texts are worth.",
        ),
        "concurrency": Field(Number(1, 1000, is_whole=True), "Requests at once.", 4),
        "requests_per_minute": Field(ABOVE_ZERO, "The most requests a minute."),
        "tokens_per_minute": Field(ABOVE_ZERO, "The most tokens a minute."),
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
                    "top_p": Field(Number(0, 1), "The share of likely tokens that is drawn from."),
                    "max_tokens": Field(Number(1, is_whole=True), "The most tokens of a reply."),
                    "seed": Field(Number(0, 2**63 - 1, is_whole=True), "Sent where the wire has one."),
                }
            ),
            "How replies are drawn.",
        ),
        "price": Field(
            declare_table(TokenPrice),
            "The price; without it that of Callgauge's list, where the model stands in it.",
        ),
        "capabilities": Field(
            KeyedTable(
                {
                    "supports_tool_use": Field(Flag(), "Calls tools natively."),
                    "supports_parallel_tools": Field(Flag(), "Makes several calls in a reply."),
                    "tool_id_pattern": Field(Text(), "A regular expression that ids of calls match."),
                    "allows_midturn_system": Field(Flag(), "Takes system messages within a conversation."),
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
        "file": Field(Text(), "A file with the prompt, beside the plan."),
        "text": Field(Text(may_be_empty=True), "The prompt itself."),
    },
    exactly_one=(("file", "text"),),
)
_DEFINITIONS = KeyedTable(
    {"files": Field(_one_or_more(Text()), "Files with definitions, in any shape, beside the plan.", REQUIRED)}
)
_TOOL = KeyedTable(
    {
        "answers": Field(Choice(("recorded",)), "The answers that the tasks hold."),
        "function": Field(FUNCTION, "A Python function, module:function, found beside the plan too."),
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
            "The arm's name, also that of its folder; made of what differs without it.",
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
        "strategy": Field(_one_or_more(_STRATEGY), "auto, tool_use or json_fallback; a list makes arms."),
        "only": Field(ListOf(_ARM), "Single arms, [[arms.only]], instead of all that can be combined."),
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
                    "file": Field(Text(), "The file of tasks, one a line, beside the plan.", REQUIRED),
                    "format": Field(
                        Choice((OWN_FORMAT, *FOREIGN_FORMATS)), "Whose format it has; its content says it."
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
    """Return the JSON Schema of a plan, as editors take it (draft 7)."""
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A plan of Callgauge's trials",
        **PLAN.to_schema(),
    }
