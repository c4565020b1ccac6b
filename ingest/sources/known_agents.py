"""The table of agents that keep logs on a user's machine, with the places of these logs. One row per agent.

A place is a pattern for files. `~` is the home folder, `${NAME:-default}` a folder that an environment
variable can set, `<editor>` one of EDITOR_FOLDERS, `*` any characters of a name, and `**` any number of
folders. docs/reference/agents.md is made from this table.
"""

from __future__ import annotations

import msgspec


class AgentLogs(msgspec.Struct, frozen=True):
    """The places where an agent keeps its logs.

    `read_as` names the formats that read the logs. If no format reads the logs, it is empty and `why` may
    give the reason. `unit` is what one file contains.
    """

    agent: str
    places: tuple[str, ...]
    read_as: tuple[str, ...] = ()
    unit: str = "session"
    why: str = ""


EDITORS = (
    "Code", "Code - Insiders", "Code - OSS", "VSCodium", "Cursor", "Windsurf", "Windsurf - Next", "Kiro",
    "Antigravity", "Trae",
)  # fmt: skip
"""The folder names of VS Code and editors based on it, as in the paths of their settings."""

EDITOR_FOLDERS = (
    *(f"${{XDG_CONFIG_HOME:-~/.config}}/{editor}/User" for editor in EDITORS),
    *(f"~/Library/Application Support/{editor}/User" for editor in EDITORS),
    *(f"${{APPDATA:-~/AppData/Roaming}}/{editor}/User" for editor in EDITORS),
    "${XDG_DATA_HOME:-~/.local/share}/code-server/User",
    *(f"~/.{server}/data/User" for server in (
        "vscode-server", "vscode-server-insiders", "vscode-remote", "cursor-server", "windsurf-server",
    )),
)  # fmt: skip


def _tasks_of(extension: str) -> str:
    return f"<editor>/globalStorage/{extension}/tasks/*/api_conversation_history.json"


_DATA, _CONFIG = "${XDG_DATA_HOME:-~/.local/share}", "${XDG_CONFIG_HOME:-~/.config}"
_MAC = "~/Library/Application Support"

AGENTS = (
    AgentLogs(
        "Claude Code",
        ("${CLAUDE_CONFIG_DIR:-~/.claude}/projects/**/*.jsonl", f"{_CONFIG}/claude/projects/**/*.jsonl"),
        ("claude_code",),
    ),
    AgentLogs(
        "Codex",
        (
            "${CODEX_HOME:-~/.codex}/sessions/**/rollout-*.jsonl*",
            "${CODEX_HOME:-~/.codex}/archived_sessions/**/rollout-*.jsonl*",
        ),
        ("codex",),
    ),
    AgentLogs(
        "Gemini CLI",
        (
            "${GEMINI_CLI_HOME:-~}/.gemini/tmp/*/chats/**/*.jsonl",
            "${GEMINI_CLI_HOME:-~}/.gemini/tmp/*/chats/**/*.json",
        ),
        ("gemini_cli",),
    ),
    AgentLogs(
        "Qwen Code", ("~/.qwen/projects/*/chats/**/*.jsonl", "~/.qwen/tmp/*/chats/**/*.json*"), ("qwen_code",)
    ),
    AgentLogs(
        "Copilot CLI",
        (
            "${COPILOT_HOME:-~/.copilot}/session-state/*/events.jsonl",
            "${COPILOT_HOME:-~/.copilot}/session-state/*.jsonl",
        ),
        ("copilot_cli",),
    ),
    AgentLogs(
        "Copilot Chat in VS Code",
        (
            "<editor>/workspaceStorage/*/chatSessions/*.json*",
            "<editor>/globalStorage/emptyWindowChatSessions/*.json*",
        ),
    ),
    AgentLogs(
        "OpenCode, in files",
        (
            f"{_DATA}/opencode/storage/session/**/*.json",
            f"{_DATA}/opencode/project/*/storage/session/info/*.json",
        ),
        ("opencode",),
    ),
    AgentLogs("OpenCode", (f"{_DATA}/opencode/opencode*.db",), ("opencode",), "database"),
    AgentLogs(
        "Goose",
        (
            f"{_DATA}/goose/sessions/*.jsonl",
            "${GOOSE_PATH_ROOT:-~/.goose}/data/sessions/*.jsonl",
            f"{_MAC}/Block/goose/sessions/*.jsonl",
            "${APPDATA:-~/AppData/Roaming}/Block/goose/data/sessions/*.jsonl",
        ),
        ("goose",),
    ),
    AgentLogs(
        "Goose, newer",
        (
            f"{_DATA}/goose/sessions/sessions.db",
            "${GOOSE_PATH_ROOT:-~/.goose}/data/sessions/sessions.db",
            "${APPDATA:-~/AppData/Roaming}/Block/goose/data/sessions/sessions.db",
        ),
        ("goose",),
        "database",
    ),
    AgentLogs(
        "Cline",
        (_tasks_of("saoudrizwan.claude-dev"), "~/.cline/data/tasks/*/api_conversation_history.json"),
        ("cline",),
    ),
    AgentLogs("Roo Code", (_tasks_of("rooveterinaryinc.roo-cline"),), ("cline",)),
    AgentLogs(
        "Kilo Code",
        (_tasks_of("kilocode.kilo-code"), "~/.kilocode/cli/global/tasks/*/api_conversation_history.json"),
        ("cline",),
    ),
    AgentLogs("Cursor", ("~/.cursor/projects/*/agent-transcripts/**/*.jsonl",), ("cursor",)),
    AgentLogs("Cursor, all chats", ("<editor>/globalStorage/state.vscdb",), ("cursor",), "database"),
    AgentLogs(
        "Kiro CLI, Amazon Q",
        tuple(f"{base}/{name}/data.sqlite3" for base in (_DATA, _MAC) for name in ("kiro-cli", "amazon-q")),
        ("kiro",),
        "database",
    ),
    AgentLogs("Kiro", ("<editor>/globalStorage/kiro.kiroagent/**/*.chat",)),
    AgentLogs("pi", ("${PI_CODING_AGENT_DIR:-~/.pi/agent}/sessions/**/*.jsonl",), ("pi",)),
    AgentLogs(
        "Kimi Code",
        ("${KIMI_SHARE_DIR:-~/.kimi}/sessions/**/*.jsonl", "~/.kimi-code/sessions/**/*.jsonl"),
        ("kimi_code",),
    ),
    AgentLogs(
        "OpenClaw",
        (
            "${OPENCLAW_STATE_DIR:-~/.openclaw}/agents/*/sessions/*.jsonl",
            "~/.clawdbot/agents/*/sessions/*.jsonl",
            "~/.moltbot/agents/*/sessions/*.jsonl",
        ),
        ("openclaw", "pi"),
    ),
    AgentLogs("Droid", ("~/.factory/sessions/**/*.jsonl",), ("droid",)),
    AgentLogs("Hermes", ("${HERMES_HOME:-~/.hermes}/sessions/*.json*",), ("hermes",)),
    AgentLogs(
        "Hermes, newer",
        ("${HERMES_HOME:-~/.hermes}/state.db", "${HERMES_HOME:-~/.hermes}/profiles/*/state.db"),
        ("hermes",),
        "database",
    ),
    AgentLogs("memo", ("${MEMO_HOME:-~/.memo}/sessions/**/*.jsonl",), ("session_history",)),
    AgentLogs("OpenHands", ("~/.openhands/conversations/*/events/*.json",), ("openhands",), "event"),
    AgentLogs("mini-swe-agent", (f"{_CONFIG}/mini-swe-agent/**/*.traj.json",), ("mini_swe",)),
    AgentLogs("Grok Build", ("~/.grok/sessions/**/chat_history.jsonl",)),
    AgentLogs("Mistral Vibe", ("${VIBE_HOME:-~/.vibe}/logs/session/*/messages.jsonl",)),
    AgentLogs("gptme", (f"{_DATA}/gptme/logs/*/conversation.jsonl",)),
    AgentLogs("Amp", (f"{_DATA}/amp/threads/*.json",)),
    AgentLogs("Continue", ("${CONTINUE_GLOBAL_DIR:-~/.continue}/sessions/*.json",)),
    AgentLogs("Zed", (f"{_DATA}/zed/threads/threads.db", f"{_MAC}/Zed/threads/threads.db"), unit="database"),
    AgentLogs("Windsurf", ("~/.codeium/windsurf/cascade/*.pb",), why="the files are encrypted"),
    AgentLogs(
        "Antigravity",
        ("~/.gemini/antigravity*/brain/*/.system_generated/logs/transcript.jsonl",),
        ("antigravity",),
    ),
    AgentLogs(
        "Antigravity, encrypted",
        ("~/.gemini/antigravity*/conversations/*.pb",),
        why="the files are encrypted; the transcripts of the same sessions are read",
    ),
    AgentLogs(
        "Aider",
        tuple(f"~/{folder}.aider.chat.history.md" for folder in ("", "*/", "*/*/")),
        why="Aider calls no tools: a model writes its edits as text",
    ),
)
