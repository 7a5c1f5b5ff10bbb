"""The input line of a chat: history, completion, editor, and what it asks of the chat behind it."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from memchat.terminal.notices import NoticeBoard
from memchat.terminal.reading import PromptReader
from memchat.terminal.toolbar import Standing

if TYPE_CHECKING:
    from memchat.app import App
    from memchat.records import Memory, Session


class Behind(Protocol):
    """What the input line asks of the chat behind it."""

    def standing(self) -> Standing: ...
    def show_notices(self) -> None: ...
    def may_keep_typed(self) -> bool: ...
    def memories(self) -> "Sequence[Memory]": ...
    def sessions(self) -> "Sequence[Session]": ...
    def remark(self, sentence: str) -> None: ...


def make_prompt(
    app: "App", board: NoticeBoard, behind: Behind, wait: Callable[[], object] = lambda: None
) -> PromptReader:
    """Return the input line; nothing of the chat is loaded for it. `wait` returns once the chat is loaded."""
    # prompt-toolkit is loaded here: a dumb terminal need not wait for it.
    from memchat.terminal.completion import Choices, CommandCompleter
    from memchat.terminal.editor import edit_text
    from memchat.terminal.history import MessageHistory
    from memchat.terminal.typed import trim_typed

    def models() -> Sequence[tuple[str, str]]:
        from memchat.terminal.models import list_models

        return list_models(app)

    def personas() -> Mapping[str, str]:
        return app.settings.personas

    trim_typed(app.paths.history)
    return PromptReader(
        behind.standing,
        behind.show_notices,
        board,
        history=MessageHistory(app.paths.history, behind.may_keep_typed, app.clock),
        completer=CommandCompleter(Choices(behind.memories, behind.sessions, models, personas), wait),
        vi=app.settings.flag("terminal.vi"),
        edit=edit_text,
        remark=behind.remark,
    )
