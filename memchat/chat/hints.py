"""Plain words that mean a command: "forget that", "no, that's wrong". The command is offered, never run by itself."""

import re
from typing import Final

from memchat.errors import NotFound
from memchat.store import Store
from memchat.text import fold, one_line

_LONGEST: Final = 60  # characters; a longer message says something of its own
_FORGET: Final = re.compile(
    r"(?:please |can you |could you |bitte |por favor )*"
    r"(?:forget|delete|erase|remove|vergiss|lösch|lösche|oublie|efface|olvida|borra|esquece|apaga|dimentica|vergeet)"
    r"[- ]?(?:that|this|it|what i (?:just )?(?:said|told you)|das|es|dies|ça|cela|le|eso|lo|isso|dat|questo)"
    r"(?: again| please| wieder| bitte| now)*[.! ]*"
)
_WRONG: Final = re.compile(
    r"(?:(?:no|nope|nein|non|nee)[,. ]+)?"
    r"(?:that'?s|that is|this is|it'?s|das ist|das stimmt|c'est|eso|eso es|isso|è|dat is|dat klopt)"
    r" (?:wrong|not right|not true|incorrect|false|falsch|nicht|nicht wahr|faux|mal|falso|errado|sbagliato|fout|niet)"
    r"(?: anymore| any more| mehr)*[.! ]*"
)


def command_hint(store: Store, text: str) -> str | None:
    """Return a sentence that offers the command which plain words mean, None when they mean none."""
    if len(text) > _LONGEST:
        return None
    said = fold(text)
    forgetting, wrong = _FORGET.fullmatch(said) is not None, _WRONG.fullmatch(said) is not None
    if not forgetting and not wrong:
        return None
    newest = next((change for change in store.list_changes(limit=10) if not change.undone), None)
    if newest is None:
        return "Nothing about you is stored yet, so there is nothing to take back."
    try:
        memory = store.get_memory(newest.memory)
    except NotFound:
        return None
    meant = f"If #{memory.id} is meant (“{one_line(memory.text)[:80]}”):"
    if forgetting:
        return f"{meant} /forget {memory.id} erases it for good. /memories shows the others."
    return f"{meant} /undo takes it back, /edit {memory.id} corrects it."
