"""Finding what is wrong with the file, and mending from the text, which is the truth, what can be mended."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from memchat.errors import StoreUnusable
from memchat.records import Fault, State
from memchat.store import keys, keywords, location, scrubbing
from memchat.store.contents import Contents
from memchat.store.part import reads
from memchat.store.revisions import Revisions
from memchat.store.vector_health import VectorHealth
from memchat.text import counted, fold

_RESCUE: Final = "bring back a backup, or rescue the text with `memchat export`"
_FIX: Final = "run `memchat doctor --fix`"


MODES: Final = "file modes"  # the check for what other people may read


@dataclass(frozen=True, slots=True)
class Check:
    """One thing to look at: `look` tells what is wrong, "" when nothing is; `repair` mends it where it can be."""

    name: str
    look: Callable[["Health"], str]
    mend: str = _FIX
    repair: Callable[["Health"], object] | None = None


class Health(VectorHealth, Contents, Revisions):
    """Checks the whole file, all users of it."""

    def check(self) -> list[Fault]:
        """Return every fault found, in the order of `CHECKS`; nothing is changed."""
        return [Fault(check.name, found, check.mend, check.repair is not None) for check, found in self._look()]

    def fix(self) -> list[str]:
        """Mend what can be mended and return one sentence for each fault that is gone."""
        done = []
        for check, found in self._look():
            if check.repair is not None:
                check.repair(self)
                done.append(f"Mended {check.name}: {found}")
        return done

    def _look(self) -> Iterator[tuple[Check, str]]:
        """Yield the checks that find something, one after the other, so that each sees what the last one mended."""
        damaged = False
        for check in CHECKS:
            try:
                found = check.look(self)
            except StoreUnusable as error:  # it cannot look; the first one that finds damage says so
                found = "" if damaged else error.sentence
            damaged = damaged or bool(found)
            if found:
                yield check, found

    def look_at_integrity(self) -> str:
        """Let SQLite read the whole file; faults of the word index alone are another check's."""
        lines = [line for line in self._db.column("PRAGMA integrity_check(20)") if "fts5" not in line.lower()]
        broken = len(self._db.rows("PRAGMA foreign_key_check"))
        lines += [f"{counted(broken, 'row belongs', 'rows belong')} to something that is gone"] if broken else []
        return "" if lines in ([], ["ok"]) else "; ".join(line for line in lines if line != "ok")

    def look_at_modes(self) -> str:
        """Find files that other people may read."""
        files = (self._db.path, *location.side_files(self._db.path), *location.backups(self._db.path))
        open_to_others = location.wider({file: 0o600 for file in files if file.exists()})
        return ", ".join(f"{place} has mode {mode:o}" for place, mode in open_to_others.items())

    def tighten(self) -> None:
        """Take the rights of others away from all files."""
        for copy in location.backups(self._db.path):
            location.tighten(copy)
        location.tighten(self._db.path)

    def look_at_folding(self) -> str:
        """Find memories whose form for comparison is not that of their text."""
        return _count("memory is compared by an old form", len(self._misfolded()))

    def refold(self) -> None:
        """Write the forms for comparison anew."""
        with self._db.transaction():
            self._db.write_many("UPDATE memories SET folded = ? WHERE id = ?", self._misfolded())

    def look_at_keys(self) -> str:
        """Find memories without exactly one key that is their text."""
        return _count("memory has no key with its text", len(self._keyless()))

    def rebuild_keys(self) -> None:
        """Give such memories the key of their text, pending."""
        with self._db.transaction():
            for id, text in self._keyless():
                self._replace_keys(id, "text", [text])

    def look_at_words(self) -> str:
        """Find memories and index rows that do not belong together."""
        faulty = _count("memory is not in the word index as it is written", len(self._misworded()))
        lone = _count("row of the word index belongs to no memory", len(self._lone_words()))
        return "; ".join(part for part in (faulty, lone, self._broken_index()) if part)

    def rebuild_words(self) -> None:
        """Write the word index anew where it differs."""
        with self._db.transaction():
            if self._broken_index():
                self._db.write("INSERT INTO memories_fts (memories_fts) VALUES ('rebuild')")
            keywords.delete_rows(self._db, self._lone_words())
            for id in self._misworded():
                self._shelve(id)

    def look_at_superseded(self) -> str:
        """Find memories that are replaced by one that is gone, or replaced and yet current."""
        return _count("memory is replaced by one that is gone, or replaced and yet current", len(self._dangling()))

    def end_dangling(self) -> None:
        """Let memories whose successor is gone be ended, and those that have one be of the past."""
        with self._db.transaction():
            for id in self._dangling():
                self._db.write(
                    """UPDATE memories SET state = 'superseded', superseded_at = coalesce(superseded_at, last_seen_at),
                    superseded_by = (SELECT id FROM memories AS m WHERE m.id = memories.superseded_by) WHERE id = ?""",
                    (id,),
                )
                self._shelve(id)

    def look_at_wiping(self) -> str:
        """Find a forget whose bytes are not wiped yet."""
        return "deleted text was not wiped from the disk yet" if scrubbing.is_due(self._db) else ""

    def _misfolded(self) -> list[tuple[str, int]]:
        rows = self._db.rows("SELECT id, text, folded FROM memories")
        return [(fold(text), id) for id, text, folded in rows if fold(text) != folded]

    def _keyless(self) -> list[tuple[int, str]]:
        rows = self._db.rows(
            """SELECT id, text FROM memories WHERE text IS NOT (SELECT CASE count(*) WHEN 1 THEN max(text) END
            FROM keys WHERE memory = memories.id AND role = 'text')"""
        )
        return [(id, text) for id, text in rows]

    def _misworded(self) -> list[int]:
        """Return memories whose row in the word index is missing, differs, or should not be there."""
        rows = self._db.rows(
            """SELECT m.id, m.user, m.state, m.superseded_at, m.text, f.text, f.cues, f.shelf FROM memories AS m
            LEFT JOIN memories_fts AS f ON f.rowid = m.id"""
        )
        return [id for id, *rest in rows if tuple(rest[4:]) != self._expected_words(id, *rest[:4])]

    @reads
    def _expected_words(
        self, id: int, user: int, state: str, superseded_at: int | None, text: str
    ) -> tuple[str | None, str | None, str | None]:
        if state == State.PROPOSED or (state == State.SUPERSEDED and superseded_at is None):
            return None, None, None
        cues = keywords.searchable("\n".join(keys.list_cues(self._db, id)))
        return keywords.searchable(text), cues, keywords.shelf_token(user, State(state))

    def _lone_words(self) -> list[int]:
        return self._db.column("SELECT rowid FROM memories_fts WHERE rowid NOT IN (SELECT id FROM memories)")

    def _broken_index(self) -> str:
        try:
            if self._db.writable:
                self._db.write("INSERT INTO memories_fts (memories_fts, rank) VALUES ('integrity-check', 1)")
        except StoreUnusable:
            return "the word index does not hold the words of its rows"
        return ""

    def _dangling(self) -> list[int]:
        return self._db.column(
            """SELECT id FROM memories WHERE superseded_by IS NOT NULL
            AND (state != 'superseded' OR superseded_by NOT IN (SELECT id FROM memories))"""
        )


def _count(sentence: str, number: int) -> str:
    """Return "3 x: sentence" for a number above 0, "" else."""
    return f"{number} x: {sentence}" if number else ""


CHECKS: Final = (
    Check("integrity", Health.look_at_integrity, _RESCUE),
    Check("contents", Health.look_at_contents, _RESCUE),
    Check("log", Health.look_at_log, repair=Health.delete_broken_log),
    Check(MODES, Health.look_at_modes, repair=Health.tighten),
    Check("comparison", Health.look_at_folding, repair=Health.refold),
    Check("keys", Health.look_at_keys, repair=Health.rebuild_keys),
    Check("words", Health.look_at_words, repair=Health.rebuild_words),
    Check("superseded", Health.look_at_superseded, repair=Health.end_dangling),
    Check("vectors missing", Health.look_at_missing, repair=Health.mark_missing),
    Check("vectors without a key", Health.look_at_orphans, repair=Health.delete_orphans),
    Check("bad vectors", Health.look_at_bad, repair=Health.delete_bad),
    Check("misplaced vectors", Health.look_at_misplaced, repair=Health.move_misplaced),
    Check("sparse vectors", Health.look_at_sparse, repair=Health.rebuild_sparse),
    Check("wiping", Health.look_at_wiping, repair=Health.scrub_due),
)
