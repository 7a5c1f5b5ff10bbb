"""How often what the model proposed was refused, and why."""

from collections.abc import Mapping

from memchat.store.part import Part


class Drops(Part):
    """Counts refused proposals by reason."""

    def count_drops(self, reasons: Mapping[str, int]) -> None:
        """Add to the counts."""
        with self._db.transaction():
            owner = self._owner()
            self._db.write_many(
                """INSERT INTO drops (user, reason, count) VALUES (?, ?, ?)
                ON CONFLICT DO UPDATE SET count = count + excluded.count""",
                [(owner, reason, count) for reason, count in reasons.items()],
            )

    def list_drops(self) -> dict[str, int]:
        """Return the counts by reason, most frequent first."""
        rows = self._db.rows(
            "SELECT reason, count FROM drops WHERE user = ? ORDER BY count DESC, reason", (self._user_id,)
        )
        return dict(rows)
