"""Which earlier turns stand in the prompt: whole turns, the oldest dropped first, and seldom.

The engine keeps the longest common prefix of the prompt in its cache, so a window that slides with every turn would
have it read the whole conversation each time. This one stays where it is until it overflows and then jumps.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memchat.errors import PromptTooLong
from memchat.records import Message, Role
from memchat.text import counted

_OVERHEAD = 8  # tokens of role marks around one message
PICTURE_TOKENS = 1000  # what one picture takes, estimated: models cut it into 250 to 1,500
_AFTER_JUMP = 0.6  # share of the room that is in use after a jump


@dataclass(frozen=True, slots=True)
class Exchange:
    """One earlier turn as the model sees it again; `turn` is None for what is not stored."""

    turn: int | None
    user_text: str
    reply: str
    images: tuple[str, ...] = ()  # base64; seen again as long as the exchange stands in the window

    def messages(self) -> list[Message]:
        """Return the turn as prompt messages; an empty reply is left out."""
        pair = [Message(Role.USER, self.user_text, self.images)]
        return [*pair, Message(Role.ASSISTANT, self.reply)] if self.reply else pair


class Window:
    """The earlier turns of one conversation and where the prompt starts among them."""

    def __init__(self, count_tokens: Callable[[str], int], exchanges: Sequence[Exchange] = ()) -> None:
        self._count = count_tokens
        self._exchanges = list(exchanges)
        self._sizes = [self._size(exchange) for exchange in self._exchanges]
        self.start = 0

    def __len__(self) -> int:
        return len(self._exchanges)

    @property
    def shown(self) -> list[Exchange]:
        """The turns that stand in the prompt."""
        return self._exchanges[self.start :]

    @property
    def dropped(self) -> list[Exchange]:
        """The turns that left the window, oldest first."""
        return self._exchanges[: self.start]

    def add(self, exchange: Exchange) -> None:
        """Append the newest turn."""
        self._exchanges.append(exchange)
        self._sizes.append(self._size(exchange))

    def remove_last(self) -> Exchange | None:
        """Take the newest turn back, as when a reply is made again."""
        if not self._exchanges:
            return None
        self._sizes.pop()
        self.start = min(self.start, len(self._sizes))
        return self._exchanges.pop()

    @property
    def exchanges(self) -> Sequence[Exchange]:
        """All turns, those out of sight too."""
        return self._exchanges

    def drop(self, unwanted: Callable[[Exchange], bool]) -> None:
        """Drop turns whose text was erased."""
        keep = [i for i, exchange in enumerate(self._exchanges) if not unwanted(exchange)]
        self.start = sum(1 for i in keep if i < self.start)
        self._exchanges = [self._exchanges[i] for i in keep]
        self._sizes = [self._sizes[i] for i in keep]

    def fit(self, room: int) -> int:
        """Move the start so that the shown turns take at most `room` tokens; return how many turns left.

        Raises PromptTooLong when there is no room at all.
        """
        if room < 0:
            raise PromptTooLong(
                f"The message is about {counted(-room, 'token')} too long for the context window; "
                "shorten it or raise chat.num_ctx."
            )
        if sum(self._sizes[self.start :]) <= room:
            return 0
        before = self.start
        while self.start < len(self._sizes) and sum(self._sizes[self.start :]) > room * _AFTER_JUMP:
            self.start += 1
        return self.start - before

    def tokens(self) -> int:
        """Return the tokens that the shown turns take."""
        return sum(self._sizes[self.start :])

    def messages(self) -> list[Message]:
        """Return the shown turns as prompt messages, oldest first."""
        return [message for exchange in self.shown for message in exchange.messages()]

    def _size(self, exchange: Exchange) -> int:
        texts = sum(self._count(message.content) + _OVERHEAD for message in exchange.messages())
        return texts + PICTURE_TOKENS * len(exchange.images)
