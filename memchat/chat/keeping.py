"""Writing a conversation down: a file that is busy, full or gone costs the memory of a turn, never the turn itself."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from memchat.chat.draft import Draft
from memchat.chat.private import kept_reply
from memchat.curate.undo import take_back_turn
from memchat.errors import NotFound, StoreError
from memchat.records import Session, Turn
from memchat.store import Store


class Keeping:
    """Stores the turns of one conversation, and later those that the file did not take at once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[Draft] = []

    @property
    def waiting(self) -> int:
        """How many turns are not written down yet."""
        return len(self._waiting)

    def begin(self, session: Session | None, draft: Draft) -> Session:
        """Store a message before it is answered; return its conversation, a new one where there is none any more.

        One that is said anew keeps its turn; another one in its place takes back what was learnt from it.
        The request need not wait until the disk has a new message: it lasts with its reply.
        Raises StoreError.
        """
        with self._store.hastily() if draft.instead is None else self._store.transaction():
            session = self._still_there(session) or self._store.add_session(draft.now)
            standing = self._standing_turn(draft)
            if standing is not None and not draft.again:
                draft.taken_back = take_back_turn(self._store, standing.id, draft.now)
                self._store.delete_turn(standing.id)
            draft.again = draft.again and standing is not None
            draft.turn = standing if draft.again else self._add_turn(session, draft)
        return session

    def abandon(self, turn: int) -> None:
        """Take a turn out, and its conversation where it was the only one, unless something was learnt from it."""
        with suppress(NotFound, StoreError), self._store.transaction():
            if not self._store.list_changes(turn=turn):
                session = self._store.get_turn(turn).session
                self._store.delete_turn(turn)
                self._store.drop_empty_session(session)

    def withdraw(self, turn: int | None) -> None:
        """Give up the newest turn if it waits: another one comes in its place."""
        if self._waiting and turn == (self._waiting[-1].turn.id if self._waiting[-1].turn else None):
            self._waiting.pop()

    def finish(self, session: Session | None, draft: Draft, learn: bool) -> Session | None:
        """Store the reply, what it was given, and whether it is to be learnt from; return the conversation.

        Raises StoreError, and then the turn waits for `catch_up`. A turn that was erased meanwhile stays erased.
        """
        try:
            return self._finish(session, draft, learn)
        except StoreError:
            self._waiting.append(draft)
            raise

    def catch_up(self, session: Session | None, learn: bool) -> Session | None:
        """Store what waits, as far as the file takes it; return the conversation."""
        waiting, self._waiting = self._waiting, []
        while waiting:
            try:
                session = self._finish(session, waiting[0], learn)
            except StoreError:
                break
            waiting.pop(0)
        self._waiting = waiting
        return session

    def drop(self) -> None:
        """Give up what waits: something was forgotten, and it may quote that."""
        self._waiting = []

    def erased(self, turns: Sequence[int]) -> set[int]:
        """Return those of the turns that were erased, here or by another process."""
        return set(turns) - self._store.list_unforgotten(turns)

    def _add_turn(self, session: Session, draft: Draft) -> Turn:
        return self._store.add_turn(
            session.id,
            user_text=draft.typed.kept,
            reply="",
            at=draft.now,
            zone=_zone_of(draft.now),
            model="",
            interrupted=True,
            learn=False,
            recall=None,
        )

    def _standing_turn(self, draft: Draft) -> Turn | None:
        """Return the stored turn whose place the draft takes, None when there is none or it was erased meanwhile."""
        try:
            turn = self._store.get_turn(draft.instead) if draft.instead is not None else None
        except NotFound:
            return None
        return None if turn is None or turn.forgotten else turn

    def _finish(self, session: Session | None, draft: Draft, learn: bool) -> Session | None:
        if draft.turn is None:
            session = self.begin(session, draft)
        assert draft.turn is not None
        assert draft.recall is not None
        if draft.again and not draft.reply:
            return session  # the reply that stands is better than none
        interrupted = draft.done is None
        try:
            with self._store.transaction():
                self._store.complete_turn(
                    draft.turn.id,
                    reply=kept_reply(draft.typed, draft.reply),
                    model=draft.model,
                    interrupted=interrupted,
                    learn=learn and not interrupted,
                    recall=draft.recall,
                )
                self._store.mark_recalled([candidate.id for candidate in draft.recall.injected], draft.now)
        except NotFound:
            draft.turn = None
            return None
        draft.queued = learn and not interrupted
        return session

    def _still_there(self, session: Session | None) -> Session | None:
        try:
            return None if session is None else self._store.get_session(session.id)
        except NotFound:
            return None


def _zone_of(now: datetime) -> str:
    """Return the user's zone as an IANA name where the system tells it, else as an offset."""
    local = now.astimezone()
    key = getattr(local.tzinfo, "key", None)
    return key or local.strftime("%z")
