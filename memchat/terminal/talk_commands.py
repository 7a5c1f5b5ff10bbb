"""Slash commands about talking: again, otherwise, with a file, with another model, and how replies are shown."""

import base64
import re
from typing import Final

from memchat.chat.attaching import read_attachment, refuse_unseen
from memchat.errors import NotFound, UsageError
from memchat.paths import typed_path
from memchat.settings import find_setting, parse_value
from memchat.terminal.desk import Desk, Outcome, Say, Write, read_switch
from memchat.terminal.render import print_fields, quiet, say
from memchat.text import clean, counted

_FENCED: Final = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
SAMPLING: Final = ("temperature", "top_p", "top_k", "min_p", "repeat_penalty", "seed", "max_reply_tokens")
_ALIASES: Final = {"num_predict": "max_reply_tokens", "max_tokens": "max_reply_tokens"}  # as other programs call it
THINKING: Final = ("off", "hide", "dim", "show")


def retry(desk: Desk, rest: str) -> Outcome:
    """Answer the last message anew."""
    return Say(_last_text(desk), instead=True)


def edit_last(desk: Desk, rest: str) -> Outcome:
    """Put the last message on the input line, or send TEXT in its place at once."""
    last = _last_text(desk)
    return Say(rest, instead=True) if rest else Write(last)


def _last_text(desk: Desk) -> str:
    said = desk.last_text or desk.chat.said_last()
    if not said:
        raise UsageError("Nothing was said yet in this conversation.")
    return said


def attach(desk: Desk, rest: str) -> Outcome:
    """Send a text file or a picture with the next message; it is never learnt from."""
    if not rest:
        raise UsageError("Name a file: /attach notes.txt")
    found = read_attachment(typed_path(rest.strip("\"'")))
    if found.image and desk.card is not None:
        refuse_unseen(desk.card)
    desk.attached += (found,)
    size = "a picture" if found.image else counted(len(found.content), "character")
    quiet(desk.remarks, f"{found.name} goes with the next message ({size}).")
    return None


def copy(desk: Desk, rest: str) -> Outcome:
    """Copy the last answer, or one of its code blocks, through the terminal (OSC 52)."""
    text = _to_copy(desk, rest)
    if not desk.app.settings.flag("terminal.clipboard"):
        raise UsageError(
            "Copying is off: `memchat config set terminal.clipboard true` lets replies into the clipboard."
        )
    if not desk.console.is_terminal:
        raise UsageError("Copying needs a terminal.")
    coded = base64.b64encode(text.encode()).decode("ascii")
    desk.console.file.write(f"\x1b]52;c;{coded}\x07")
    desk.console.file.flush()
    quiet(desk.remarks, f"Copied: {counted(len(text), 'character')}.")
    return None


def _to_copy(desk: Desk, rest: str) -> str:
    reply = clean(desk.chat.replied_last())
    if not reply:
        raise UsageError("There is no answer to copy yet.")
    if not rest:
        return reply
    blocks = [found[2] for found in _FENCED.finditer(reply)]
    if not rest.isdecimal() or not 1 <= int(rest) <= len(blocks):
        raise UsageError(f"The last answer has {counted(len(blocks), 'code block')}; /copy N takes the Nth.")
    return blocks[int(rest) - 1]


def model(desk: Desk, rest: str) -> Outcome:
    """Tell which model answers, or switch to another one."""
    if rest:
        with desk.hush():
            desk.app.engines.switch(rest)
    desk.card = card = desk.chat.model.card()
    place = f" at {card.remote}, not on this machine" if card.remote else ""
    quiet(desk.remarks, f"{'From now on ' if rest else ''}{card.model} ({card.engine}){place}.")
    return None


def system(desk: Desk, rest: str) -> Outcome:
    """Show, replace or restore the assistant's instructions."""
    if not rest:
        say(desk.console, desk.chat.options.system_prompt or "The usual instructions.")
        return None
    desk.app.change_setting("chat.persona", "")
    desk.change("chat.system_prompt", None if rest == "off" else rest)
    desk.chat.refresh_profile()
    quiet(desk.remarks, "The instructions hold from the next message on, until you leave.")
    return None


def persona(desk: Desk, rest: str) -> Outcome:
    """List the personas, take one on, or drop it."""
    settings = desk.app.settings
    if not rest:
        now = settings.text("chat.persona")
        rows = [(f"{'●' if name == now else '○'} {name}", text) for name, text in settings.personas.items()]
        print_fields(desk.console, rows)
        if not rows:
            quiet(desk.remarks, 'There are none yet: memchat config set personas.NAME "You are …"')
        return None
    try:
        desk.change("chat.persona", "" if rest == "off" else rest)
    except NotFound:
        desk.change("chat.persona", settings.text("chat.persona") or "")
        raise
    desk.chat.refresh_profile()
    told = "The usual instructions hold" if rest == "off" else f"{rest} answers"
    quiet(desk.remarks, f"{told} from the next message on.")
    return None


def set_sampling(desk: Desk, rest: str) -> Outcome:
    """Show how replies are drawn, or change one number of it."""
    name, _, value = rest.partition(" ")
    name = _ALIASES.get(name, name)
    if not name:
        print_fields(desk.console, [(key, _drawn(desk, key)) for key in SAMPLING])
        return None
    if name == "num_ctx":
        raise UsageError("The window belongs to the loaded model: memchat config set chat.num_ctx 16384")
    if name not in SAMPLING or not value:
        raise UsageError(f"Name one of {', '.join(SAMPLING)} and its value, or off: /set temperature 0.2")
    desk.change(f"chat.{name}", None if value == "off" else parse_value(find_setting(f"chat.{name}"), value))
    quiet(desk.remarks, f"{name}: {_drawn(desk, name)}, until you leave.")
    return None


def _drawn(desk: Desk, name: str) -> str:
    value = desk.app.settings[f"chat.{name}"]
    return "left to the engine" if value is None else str(value)


def think(desk: Desk, rest: str) -> Outcome:
    """Show or change whether a thinking model reasons first, and how that is shown."""
    if not rest:
        quiet(desk.remarks, f"Thinking: {desk.thinking}; one of {', '.join(THINKING)}.")
        return None
    if rest not in THINKING:
        raise UsageError(f"Thinking can be {', '.join(THINKING)}; not {rest!r}.")
    desk.change("chat.thinking", rest)
    card = desk.card
    cannot = card is not None and rest != "off" and "thinking" not in card.capabilities
    quiet(desk.remarks, f"Thinking: {rest}." + (f" {card.model} does not reason first." if card and cannot else ""))
    return None


def plain(desk: Desk, rest: str) -> Outcome:
    """Switch Markdown off (`/plain on`) or on."""
    desk.plain = read_switch(rest, desk.plain, "plain")
    quiet(desk.remarks, "Replies are printed as they come." if desk.plain else "Replies are shown as Markdown.")
    return None
