"""What the file holds of a conversation that goes on."""

from dataclasses import dataclass
from typing import Self

from memchat.chat.window import Exchange
from memchat.records import Session
from memchat.store import Store


def stored_exchanges(store: Store | None, session: Session | None) -> list[Exchange]:
    """Return the turns that have a reply, oldest first, without those that were erased."""
    turns = store.list_turns(session.id) if store is not None and session is not None else []
    return [Exchange(turn.id, turn.user_text, turn.reply) for turn in turns if turn.reply and not turn.forgotten]


def stored_reply(store: Store | None, session: Session | None) -> str:
    """Return the newest reply of a conversation, "" when it has none."""
    exchanges = stored_exchanges(store, session)
    return exchanges[-1].reply if exchanges else ""


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest message of a conversation: its turn where stored, what was kept of it, whether a reply came."""

    turn: int | None = None
    said: str = ""
    answered: bool = True

    @classmethod
    def stored(cls, store: Store | None, session: Session | None) -> Self:
        """Return that of a conversation which goes on; nothing when its newest turn was erased."""
        turns = store.list_turns(session.id) if store is not None and session is not None else []
        if not turns or turns[-1].forgotten:
            return cls()
        return cls(turns[-1].id, turns[-1].user_text, bool(turns[-1].reply))
