"""Values that no version of this program can have written, found by what each column may hold."""

from typing import Final

from memchat.records import Cause, Kind, State
from memchat.store.part import Part


def _one_of(column: str, values: type[Kind] | type[State] | type[Cause]) -> str:
    return f"{column} NOT IN ({', '.join(repr(str(value)) for value in values)})"


def _no_time(column: str) -> str:
    """Tell of milliseconds outside the years 1 to 9999."""
    return f"{column} NOT BETWEEN -62135596800000 AND 253402300799999"


def _no_json(column: str, kind: str) -> str:
    return f"coalesce(CASE WHEN json_valid({column}) THEN json_type({column}) END, '') != '{kind}'"


_RECALLS: Final = " OR ".join(
    [_no_json("candidates", "array"), _no_json("profile", "array"), _no_json("timings", "object")]
)
_COLUMNS: Final = {
    "memories": (
        _one_of("kind", Kind),
        _one_of("state", State),
        *map(_no_time, ("created_at", "last_seen_at", "last_recalled_at", "superseded_at")),
        "(event_date IS NOT NULL AND date(event_date) IS NOT event_date)",
    ),
    "changes": (_one_of("cause", Cause), _no_time("at"), _no_json("before", "object"), _no_json("after", "object")),
    "turns": (_no_time("at"),),
    "sessions": (_no_time("created_at"), _no_time("last_turn_at")),
    "embedders": (f"(calibration IS NOT NULL AND {_no_json('calibration', 'object')})",),
}


class Contents(Part):
    """Checks what stands in the columns."""

    def look_at_log(self) -> str:
        """Find recall records that cannot be read."""
        broken = self._db.value(f"SELECT count(*) FROM recalls WHERE {_RECALLS}")
        return f"{broken} x: what a reply was given cannot be read" if broken else ""

    def delete_broken_log(self) -> None:
        """Delete such records."""
        with self._db.transaction():
            self._db.write(f"DELETE FROM quotations WHERE turn IN (SELECT turn FROM recalls WHERE {_RECALLS})")
            self._db.write(f"DELETE FROM recalls WHERE {_RECALLS}")

    def look_at_contents(self) -> str:
        """Find rows with a value that cannot be read."""
        counts = {
            table: self._db.value(f"SELECT count(*) FROM {table} WHERE {' OR '.join(conditions)}")
            for table, conditions in _COLUMNS.items()
        }
        found = [f"{count} x: a value in {table} cannot be read" for table, count in counts.items() if count]
        key = self._db.value("SELECT value FROM meta WHERE name = 'tombstone_key'")
        if key is None or len(key) % 2 or key.strip("0123456789abcdef"):
            found.append("the key that keeps forgotten texts away is broken")
        return "; ".join(found)
