"""What outside files may hold, as pydantic models: imported memories, transcripts, other programs' exports.

Import this module inside functions only: pydantic costs more time than most commands take.
"""

from datetime import date, datetime

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memchat.records import Kind, State

_BIGGEST_ID = 2**63 - 1


class _Shape(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class SourceLine(_Shape):
    """Where an imported memory was stated; only the evidence can mean anything in another file."""

    evidence: str | None = None


class MemoryLine(_Shape):
    """One line of `memchat import`, as `export` writes it; null means "not said"."""

    text: str
    id: int | None = Field(None, ge=0, le=_BIGGEST_ID)
    ref: str | int | None = None
    kind: Kind | None = None
    state: State | None = None
    importance: int | None = Field(None, ge=1, le=10)
    confidence: float | None = Field(None, ge=0, le=1)
    pinned: bool | None = None
    created_at: datetime | date | None = None
    last_seen_at: datetime | date | None = None
    superseded_by: int | str | None = None
    superseded_at: datetime | date | None = None
    event_date: date | None = None
    subject: str | None = None
    attribute: str | None = None
    value: str | None = None
    cues: list[str] | None = None
    source: SourceLine | None = None


class ExchangeLine(_Shape):
    """One line of a plain transcript."""

    user: str
    assistant: str | None = None
    at: datetime | date | None = None
    conversation: str | int | None = None
    title: str | None = None


class _GptAuthor(_Shape):
    role: str


class _GptContent(_Shape):
    content_type: str = "text"
    parts: list[object] = Field(default_factory=list)


class _GptMessage(_Shape):
    author: _GptAuthor
    create_time: float | None = None
    content: _GptContent | None = None
    recipient: str | None = None


class _GptNode(_Shape):
    message: _GptMessage | None = None
    parent: str | None = None
    children: list[str] = Field(default_factory=list)


class GptConversation(_Shape):
    """One conversation of a ChatGPT export: a tree of messages of which one branch was shown last."""

    title: str | None = None
    id: str | None = None
    conversation_id: str | None = None
    create_time: float | None = None
    current_node: str | None = None
    mapping: dict[str, _GptNode]

    def shown_branch(self) -> list[_GptMessage]:
        """Return the messages of the branch shown last, oldest first; a broken tree gives what hangs together."""
        branch: list[_GptMessage] = []
        name = self.current_node if self.current_node in self.mapping else self._last_leaf()
        seen: set[str] = set()
        while name is not None and name in self.mapping and name not in seen:
            seen.add(name)
            message = self.mapping[name].message
            branch += [message] if message else []
            name = self.mapping[name].parent
        return branch[::-1]

    def _last_leaf(self) -> str | None:
        leaves = [name for name, node in self.mapping.items() if not node.children]
        return leaves[-1] if leaves else None


class _ClaudePart(_Shape):
    type: str = "text"
    text: str | None = None


class _ClaudeMessage(_Shape):
    sender: str
    text: str | None = None
    content: list[_ClaudePart] = Field(default_factory=list)
    created_at: datetime | None = None

    def said(self) -> str:
        """Return the message's text; newer exports keep it in parts."""
        parts = [part.text for part in self.content if part.type == "text" and part.text]
        return "\n\n".join(parts) or self.text or ""


class ClaudeConversation(_Shape):
    """One conversation of a Claude export."""

    uuid: str | None = None
    name: str | None = None
    created_at: datetime | None = None
    chat_messages: list[_ClaudeMessage]


def first_fault(error: ValidationError) -> str:
    """Return the first thing that is wrong, as "key: what" in words."""
    fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in fault["loc"][:1])
    what = fault["msg"].removeprefix("Value error, ").replace("Input should be", "must be")
    what = what.replace("Field required", "is missing").replace(" at line 1 column ", ", column ")
    return f"{where}: {what}" if where else what.replace("must be an object", "must be one JSON object")
