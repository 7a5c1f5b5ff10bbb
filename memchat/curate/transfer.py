"""Memories to JSON Lines and back: an import is all or nothing, and the same file twice adds nothing."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from memchat.curate.import_lines import BadLine, ImportLine, find_successor, name_faults, name_lines, parse_lines
from memchat.curate.private_files import refuse_target, write_private
from memchat.curate.wording import forms_of, is_forgotten
from memchat.errors import UsageError
from memchat.learn.secrets import redact_secrets
from memchat.records import Cause, NewMemory, State
from memchat.store import Store, slot_value
from memchat.text import fold
from memchat.wire import json_text, memory_json


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did; every line is counted once, `superseded` and `ids` tell of the added ones."""

    added: int
    superseded: int
    known: int  # their ref is there already
    duplicates: int  # their text is there already
    forgotten: int  # held back, since the user had them forgotten
    secrets: int  # held back, since they have the shape of a secret
    bad: tuple[BadLine, ...]
    ids: tuple[int, ...]


def export_lines(store: Store) -> Iterator[str]:
    """Yield every memory of the user as one JSON object a line, oldest id first, superseded and proposed ones too."""
    for memory in store.list_memories(state=None):
        yield json_text(memory_json(memory)) + "\n"


def write_export(store: Store, path: Path) -> int:
    """Write all memories to `path`, readable by the owner only; return how many. Raises UsageError for a folder."""
    refuse_target(store, path)
    lines = list(export_lines(store))
    write_private(path, lines)
    return len(lines)


def import_lines(
    store: Store,
    lines: Iterable[bytes | str],
    *,
    name: str,
    now: datetime,
    skip_bad: bool = False,
    keep_secrets: bool = False,
    allow_again: bool = False,
    dry_run: bool = False,
) -> Imported:
    """Store the memories of JSON Lines in one transaction; their vectors are left pending.

    Lines whose ref or text is there already add nothing; what was forgotten (unless `allow_again`), and what has the
    shape of a secret (unless `keep_secrets`), is held back and counted. Raises UsageError naming every bad line of the
    file `name`, with nothing stored, unless `skip_bad`; `dry_run` tells what would happen and stores nothing.
    """
    good, bad = parse_lines(lines, now)
    if bad and not skip_bad:
        raise UsageError(name_faults(name, bad))
    sorting = _Sorting(store, keep_secrets, allow_again)
    with store.transaction():
        for line in good:
            sorting.sort(line)
        if not dry_run:
            sorting.store_all(now)
            sorting.supersede_all(good, now)
    return sorting.result(tuple(bad))


_Identity = tuple[str, datetime | None]  # folded text, and of history only the second it was made in


@dataclass(slots=True)
class _Sorting:
    """What is to be done with each valid line, against what the store holds already."""

    store: Store
    keep_secrets: bool
    allow_again: bool = False
    to_add: list[ImportLine] = field(default_factory=list)
    superseded: int = 0
    known: int = 0
    duplicates: int = 0
    forgotten: int = 0
    secrets: int = 0
    _ids: dict[int, int] = field(default_factory=dict)  # line → id of its memory, new or already there
    _refs: dict[str, int] = field(default_factory=dict)
    _texts: dict[_Identity, int] = field(default_factory=dict)
    _lines: dict[_Identity, ImportLine] = field(default_factory=dict)  # the first line that says something
    _twins: dict[int, int] = field(default_factory=dict)  # line → earlier line of the file that says the same

    def __post_init__(self) -> None:
        for memory in self.store.list_memories(state=None):
            if memory.ref is not None:
                self._refs[memory.ref] = memory.id
            past = memory.state is State.SUPERSEDED
            self._texts.setdefault(_identity(memory.text, memory.created_at if past else None), memory.id)

    def sort(self, line: ImportLine) -> None:
        """Decide about one line."""
        new = line.memory
        if new.ref is not None and new.ref in self._refs:
            self.known += 1
            self._ids[line.line] = self._refs[new.ref]
        elif new.ref is None and self._find_twin(line):
            self.duplicates += 1
        elif not self.allow_again and self._is_forgotten(new):
            self.forgotten += 1
        elif not self.keep_secrets and redact_secrets(_all_text(new))[1]:
            self.secrets += 1
        else:
            self.to_add.append(line)
            self._lines.setdefault(_identity_of(line), line)

    def _find_twin(self, line: ImportLine) -> bool:
        """Tell whether a memory or an earlier line says this already, and note which."""
        identity = _identity_of(line)
        if identity in self._texts:
            self._ids[line.line] = self._texts[identity]
        elif identity in self._lines:
            self._twins[line.line] = self._lines[identity].line
        else:
            return False
        return True

    def _is_forgotten(self, new: NewMemory) -> bool:
        evidence = new.source.evidence if new.source else None
        own = slot_value(new.subject, new.attribute, new.value)
        return is_forgotten(self.store, new.text, evidence=evidence, own=own)

    def store_all(self, now: datetime) -> None:
        """Add what is new, in the order of the file."""
        for line in self.to_add:
            if self.allow_again:
                self._allow_again(line.memory)
            self._ids[line.line] = self.store.add_memory(line.memory, cause=Cause.IMPORTED, now=now).id

    def _allow_again(self, new: NewMemory) -> None:
        own = slot_value(new.subject, new.attribute, new.value)
        forms = forms_of(new.text) if self.store.has_forgotten_form() else ()
        self.store.allow_again(new.text, forms=(*forms, own) if own else forms)

    def supersede_all(self, lines: list[ImportLine], now: datetime) -> None:
        """Turn the added memories that are history into history; one whose successor is held back has ended."""
        named = name_lines(lines)
        for line in self.to_add:
            if not line.superseded:
                continue
            later = find_successor(line, named)
            by = None if later is None else self._ids.get(self._twins.get(later.line, later.line))
            ended = line.superseded_at or _later_of(line, later)
            old = self._ids[line.line]
            self.store.supersede_memory(old, by=by, cause=Cause.IMPORTED, now=now, ended_at=ended)
            self.superseded += 1

    def result(self, bad: tuple[BadLine, ...]) -> Imported:
        """Return the counts."""
        return Imported(
            added=len(self.to_add),
            superseded=self.superseded,
            known=self.known,
            duplicates=self.duplicates,
            forgotten=self.forgotten,
            secrets=self.secrets,
            bad=bad,
            ids=tuple(self._ids[line.line] for line in self.to_add if line.line in self._ids),
        )


def _later_of(line: ImportLine, later: ImportLine | None) -> datetime | None:
    """Return when the newer line was said, from which on the older one no longer held."""
    moments = [moment for one in (line, later) if one is not None and (moment := one.memory.created_at)]
    return max(moments) if later is not None else None


def _identity(text: str, made: datetime | None) -> _Identity:
    return fold(text), made and made.replace(microsecond=0)


def _identity_of(line: ImportLine) -> _Identity:
    past = line.superseded or line.memory.state is State.SUPERSEDED
    return _identity(line.memory.text, line.memory.created_at if past else None)


def _all_text(new: NewMemory) -> str:
    evidence = new.source.evidence if new.source else ""
    return "\n".join(filter(None, (new.text, new.subject, new.attribute, new.value, evidence, *new.cues)))
