"""The slash commands: one table that drives what runs, `/help`, and completion.

A message is a command only when it is one line that starts with `/word`; a path, `//` and longer texts are messages.
"""

import difflib
import re
from dataclasses import dataclass
from typing import Final

from memchat.chat import Mode
from memchat.errors import UsageError
from memchat.terminal import memory_commands as memories
from memchat.terminal import recall_commands as recalls
from memchat.terminal import session_commands as sessions
from memchat.terminal import talk_commands as talk
from memchat.terminal.desk import SWITCH, Command, Completes, Desk, Leave, Outcome
from memchat.terminal.render import Row, print_columns, quiet, say

_PROGRAM_COMMAND: Final = re.compile(r"`memchat ([a-z-]+)`")
_CALL: Final = re.compile(r"/([A-Za-z][\w-]*)(?:\s+(.*))?$")


@dataclass(frozen=True, slots=True)
class Call:
    """A command as typed: the word without its slash, and what follows."""

    word: str
    rest: str


def read_call(message: str) -> Call | None:
    """Return the command that `message` is, known or not; None when it is text for the model."""
    line = message.rstrip()
    if line == "/":
        return Call("", "")
    found = None if "\n" in line else _CALL.match(line)
    return Call(found[1].lower(), (found[2] or "").strip()) if found else None


def find_command(word: str) -> Command | None:
    """Return the command of this name or alias."""
    return next((row for row in COMMANDS if word == row.name or word in row.aliases), None)


def run_command(desk: Desk, call: Call) -> Outcome:
    """Run a command; raises UsageError naming the nearest one when there is none of this name."""
    command = find_command(call.word)
    if command is None:
        raise UsageError(_unknown(call))
    return command.run(desk, call.rest)


def in_chat(sentence: str) -> str:
    """Return a sentence with slash commands in the place of the program's own, where there is one of the name."""

    def named(found: re.Match[str]) -> str:
        command = find_command(found[1])
        return f"/{command.name}" if command else found[0]

    return _PROGRAM_COMMAND.sub(named, sentence)


def _unknown(call: Call) -> str:
    if not call.word:
        return "A / alone is no command; /help lists them. (A space before the / sends it as text.)"
    names = [name for row in COMMANDS for name in (row.name, *row.aliases)]
    near = [name for name in names if name.startswith(call.word)]
    near = near or difflib.get_close_matches(call.word, names, n=2, cutoff=0.5)
    guess = f" Did you mean {' or '.join(f'/{name}' for name in near[:3])}?" if near else " /help lists them."
    return f"There is no command /{call.word}.{guess} (A space before the / sends it as text.)"


def _help(desk: Desk, rest: str) -> Outcome:
    """Show all commands, or one with its other names."""
    if not rest:
        rows: list[Row] = [[(_usage(row), "cyan"), row.help] for row in COMMANDS]
        print_columns(desk.console, rows)
        quiet(desk.console, _KEYS)
        return None
    command = find_command(rest.removeprefix("/").lower())
    if command is None:
        raise UsageError(_unknown(Call(rest.removeprefix("/").split()[0], "")))
    say(desk.console, _usage(command), "cyan")
    say(desk.console, command.help)
    if command.aliases:
        quiet(desk.console, "Also " + ", ".join(f"/{name}" for name in command.aliases))
    return None


def _usage(command: Command) -> str:
    return f"/{command.name} {command.usage}".rstrip()


def _quit(desk: Desk, rest: str) -> Outcome:
    return Leave()


def _incognito(desk: Desk, rest: str) -> Outcome:
    return sessions.switch_mode(desk, Mode.INCOGNITO, rest)


def _read_only(desk: Desk, rest: str) -> Outcome:
    return sessions.switch_mode(desk, Mode.READ_ONLY, rest)


_KEYS: Final = (
    'Enter sends · Alt-Enter or a line """ for more lines · Ctrl-C stops a reply or clears the line · Ctrl-D leaves · '
    "Ctrl-R searches what you typed · Ctrl-X Ctrl-E opens your editor · Tab completes"
)
_MEMORY, _KIND, _SESSION = Completes.MEMORY, Completes.KIND, Completes.SESSION

COMMANDS: Final = (
    Command("remember", memories.remember, "TEXT", "Keep TEXT as a memory, in your words."),
    Command("memories", memories.list_memories, "[KIND or WORDS]", "List what is remembered.", ("list",), _KIND),
    Command("show", memories.show, "ID", "Show one memory whole: where from, found by what, its history.", (), _MEMORY),
    Command("edit", memories.edit, "ID [TEXT]", "Reword a memory; without TEXT in your editor.", (), _MEMORY),
    Command("forget", memories.forget, "ID… or WORDS", "Erase memories for good; words list and ask.", (), _MEMORY),
    Command("pin", memories.pin, "ID…", "Keep memories from fading, and in the profile.", (), _MEMORY),
    Command("unpin", memories.unpin, "ID…", "Take the pin off again.", (), _MEMORY),
    Command("history", memories.history, "[ID]", "What changed in the memories, and why.", (), _MEMORY),
    Command("undo", memories.undo, "[N]", "Take back the last learning or edit."),
    Command(
        "pending",
        memories.pending,
        "[approve|reject ID…]",
        "What waits for your approval.",
        (),
        Completes.CHOICE,
        ("approve", "reject"),
    ),
    Command("learn", memories.learn, "", "Learn now from what was said."),
    Command(
        "why",
        recalls.why,
        "[TURN | --ablate]",
        "What the last reply was given of the memories, and what nearly was; --ablate: the reply without each.",
        (),
        Completes.CHOICE,
        ("--ablate",),
    ),
    Command("inspect", recalls.inspect, "TEXT", "What TEXT would recall, stage by stage."),
    Command("profile", recalls.profile, "", "What every message of this session knows of you."),
    Command("log", recalls.log, "[N]", "What the last N replies were given."),
    Command("sessions", sessions.list_sessions, "[WORDS]", "Past conversations, newest first."),
    Command("new", sessions.new, "", "Start a new conversation."),
    Command("continue", sessions.continue_latest, "", "Go on with the latest conversation."),
    Command("resume", sessions.resume, "ID", "Go on with a past conversation.", (), _SESSION),
    Command("rename", sessions.rename, "TITLE", "Give this conversation a title."),
    Command("fork", sessions.fork, "", "Go on in a copy of this conversation."),
    Command("export", sessions.export, "FILE", "Write this conversation as Markdown.", (), Completes.FILE),
    Command("delete", sessions.delete, "ID", "Erase a conversation and what was learnt in it.", (), _SESSION),
    Command(
        "incognito",
        _incognito,
        "[on|off]",
        "Read no memories and store nothing; again switches back.",
        (),
        Completes.CHOICE,
        SWITCH,
    ),
    Command(
        "read-only",
        _read_only,
        "[on|off]",
        "Use the memories but store nothing; again switches back.",
        ("readonly",),
        Completes.CHOICE,
        SWITCH,
    ),
    Command("retry", talk.retry, "", "Answer the last message anew.", ("regenerate",)),
    Command("edit-last", talk.edit_last, "[TEXT]", "Change the last message and send it again."),
    Command("attach", talk.attach, "FILE", "Send a text file or a picture with the next message.", (), Completes.FILE),
    Command("copy", talk.copy, "[N]", "Copy the last answer, or its Nth code block, to the clipboard."),
    Command("model", talk.model, "[NAME]", "Which model answers; with NAME switch to it.", (), Completes.MODEL),
    Command("system", talk.system, "[TEXT or off]", "Replace the assistant's instructions until you leave."),
    Command(
        "persona", talk.persona, "[NAME or off]", "Who answers: one of your named instructions.", (), Completes.PERSONA
    ),
    Command(
        "think",
        talk.think,
        "[" + "|".join(talk.THINKING) + "]",
        "Whether a thinking model reasons first, and how that is shown.",
        (),
        Completes.CHOICE,
        talk.THINKING,
    ),
    Command(
        "set",
        talk.set_sampling,
        "[NAME VALUE or off]",
        "How replies are drawn: temperature, top_p, seed, max_reply_tokens and more.",
        (),
        Completes.CHOICE,
        talk.SAMPLING,
    ),
    Command(
        "plain",
        talk.plain,
        "[on|off]",
        "Print replies as they come, without Markdown; again switches back.",
        (),
        Completes.CHOICE,
        SWITCH,
    ),
    Command("stats", recalls.stats, "", "How the memories stand."),
    Command("doctor", recalls.doctor, "", "What is wrong, and what mends it."),
    Command("help", _help, "[COMMAND]", "This list.", ("?",), Completes.COMMAND),
    Command("quit", _quit, "", "Leave.", ("exit", "bye", "q")),
)
