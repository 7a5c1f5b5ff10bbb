"""Reading JSON out of a model's reply, however it is wrapped: prose, fences, reasoning, doubled braces."""

import json
import re
from collections.abc import Iterator
from typing import Final

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None

_REASONING: Final = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>|^.*?</think(?:ing)?>", re.S | re.I)


def read_json(reply: str) -> Json:
    """Return the JSON of a reply: the whole of it, else the first object or list in it; None when there is none."""
    return next(read_values(reply), None)


def read_values(reply: str) -> Iterator[Json]:
    """Yield the JSON values in a reply, outermost first; nothing is cut out of a string that holds a fence."""
    thought = "</think" in reply.lower()
    for text in (_REASONING.sub("", reply), reply) if thought else (reply,):
        try:
            yield json.loads(text)
        except (ValueError, RecursionError):
            yield from _embedded(text)


def _embedded(text: str) -> Iterator[Json]:
    decoder = json.JSONDecoder()
    place = 0
    while (found := re.search(r"[{\[]", text[place:])) is not None:
        start = place + found.start()
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            place = start + 1
            continue
        yield value
        place = end


def items_of(reply: str, name: str) -> list[dict[str, Json]] | None:
    """Return the objects listed under `name`, or in a bare list; None when the reply holds nothing of that shape."""
    for value in read_values(reply):
        listed = value.get(name) if isinstance(value, dict) else value
        if isinstance(listed, list):
            return [item for item in listed if isinstance(item, dict)]
    return None
