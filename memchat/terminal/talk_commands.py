"""Slash commands about talking: again, otherwise, with a file, with another model, and how replies are shown."""

import base64
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from memchat.chat import Attachment
from memchat.errors import UsageError
from memchat.paths import typed_path
from memchat.records import Sampling
from memchat.settings import find_setting, parse_value
from memchat.terminal.desk import Desk, Outcome, Say, Write
from memchat.terminal.render import quiet, say
from memchat.text import clean, counted

_FENCED: Final = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n]*\n(.*?)(?:^[ \t]*\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_LARGEST: Final = 1_000_000  # bytes of an attached file
SAMPLING: Final = {  # what people type, and the field of Sampling
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "max_reply_tokens": "max_tokens",
}
THINKING: Final = ("hide", "dim", "show")


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
    """Send a text file with the next message; it is never learnt from."""
    if not rest:
        raise UsageError("Name a file: /attach notes.txt")
    path = typed_path(rest.strip("\"'"))
    content = _read_text(path)
    desk.attached += (Attachment(path.name, content),)
    quiet(desk.remarks, f"{path.name} goes with the next message ({counted(len(content), 'character')}).")
    return None


def _read_text(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise UsageError(f"{path} is larger than {counted(_LARGEST, 'byte')}; attach a part of it.")
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {(error.strerror or 'unknown reason').lower()}.") from None
    if b"\0" in content[:8192]:
        raise UsageError(f"{path} is no text file.")
    return clean(content.decode("utf-8", "replace"))


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
    reply = clean(desk.chat.last.reply) if desk.chat.last else ""
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
    """Show, replace or restore the assistant's instructions of this chat."""
    if not rest:
        say(desk.console, desk.chat.options.system_prompt or "The usual instructions.")
        return None
    custom = desk.app.settings.text("chat.system_prompt") if rest == "off" else rest
    desk.chat.options = replace(desk.chat.options, system_prompt=custom)
    desk.chat.refresh_profile()
    quiet(desk.remarks, "The instructions hold from the next message on, in this chat.")
    return None


def set_sampling(desk: Desk, rest: str) -> Outcome:
    """Show how replies are drawn, or change one number of it for this chat."""
    name, _, value = rest.partition(" ")
    if not name:
        told = ", ".join(f"{key} {getattr(desk.chat.options.sampling, field)}" for key, field in SAMPLING.items())
        quiet(desk.remarks, told)
        return None
    if name not in SAMPLING or not value:
        raise UsageError(f"Name one of {', '.join(SAMPLING)} and its value: /set temperature 0.2")
    number = parse_value(find_setting(f"chat.{name}"), value)
    assert isinstance(number, int | float)
    desk.chat.options = replace(desk.chat.options, sampling=_resampled(desk.chat.options.sampling, name, number))
    quiet(desk.remarks, f"{name}: {number}, in this chat.")
    return None


def _resampled(sampling: Sampling, name: str, number: float) -> Sampling:
    if name == "temperature":
        return replace(sampling, temperature=number)
    if name == "top_p":
        return replace(sampling, top_p=number)
    if name == "seed":
        return replace(sampling, seed=int(number))
    return replace(sampling, max_tokens=int(number))


def think(desk: Desk, rest: str) -> Outcome:
    """Show or change how the reasoning of a thinking model is treated."""
    if not rest:
        quiet(desk.remarks, f"Thinking: {desk.thinking}; one of {', '.join(THINKING)}.")
        return None
    if rest not in THINKING:
        raise UsageError(f"Thinking can be {', '.join(THINKING)}; `memchat config set chat.thinking off` ends it.")
    desk.thinking = rest
    desk.chat.options = replace(desk.chat.options, show_thinking=rest != "hide")
    quiet(desk.remarks, f"Thinking: {rest}.")
    return None


def plain(desk: Desk, rest: str) -> Outcome:
    """Switch Markdown off or on."""
    desk.plain = not desk.plain
    quiet(desk.remarks, "Replies are printed as they come." if desk.plain else "Replies are shown as Markdown.")
    return None
