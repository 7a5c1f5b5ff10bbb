"""The second look: the chat model picks, from the ten best candidates, those that matter for the message.

Off by default: it costs a call to the model before every answer that has something to choose from.
"""

import re
from collections.abc import Callable, Sequence
from threading import Event
from typing import Final

from memchat.engine import ChatModel
from memchat.errors import Cancelled, EngineError
from memchat.prompts import PICK_SCHEMA, pick_messages
from memchat.recall.select import Bar, passes
from memchat.recall.weigh import Weighed

LOOKED_AT: Final = 10
_MOST_TOKENS: Final = 60
_PICKED: Final = re.compile(r"\[([\d,\s]*)\]")

# From a message and numbered texts to the numbers picked, best first and counted from 0; None when it cannot tell.
SecondLook = Callable[[str, Sequence[str]], Sequence[int] | None]


def second_look(model: Callable[[], ChatModel], stop: Event) -> SecondLook:
    """Return a second look by a chat model, which is loaded when it is first needed; `stop` ends a running one."""

    def look(message: str, texts: Sequence[str]) -> Sequence[int] | None:
        try:
            reply = model().complete_json(
                pick_messages(message, texts), PICK_SCHEMA, max_tokens=_MOST_TOKENS, stop=stop
            )
        except (EngineError, Cancelled):
            return None  # the order that was measured stands
        return read_picks(reply, len(texts))

    return look


def read_picks(reply: str, count: int) -> list[int] | None:
    """Return the picked numbers of a reply, from 0, each once; None for a reply without a list."""
    found = _PICKED.search(reply)
    if found is None:
        return None
    numbers = dict.fromkeys(int(digits) - 1 for digits in re.findall(r"\d+", found[1]))
    return [number for number in numbers if 0 <= number < count]


def look_again(weighed: Sequence[Weighed], bar: Bar, message: str, look: SecondLook) -> tuple[list[Weighed], set[int]]:
    """Return the candidates with the picked ones first, and the ids of those that were passed over.

    Only what could be given is looked at; with fewer than two of those there is nothing to choose.
    """
    able = [one for one in weighed if one.memory.id not in bar.profile and passes(one, bar)]
    able = [one for one in able if bar.about_past or not one.found.past][:LOOKED_AT]
    picks = look(message, [one.memory.text for one in able]) if len(able) > 1 else None
    if picks is None:
        return list(weighed), set()
    picked = [able[number] for number in picks]
    rest = [one for one in weighed if one not in picked]
    return [*picked, *rest], {one.memory.id for one in able if one not in picked}
