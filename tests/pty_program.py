"""The chat with a scripted model, to be driven through a pseudo-terminal: FOLDER and SCENE are its arguments."""

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event

from memchat.records import Chunk, Done, Message, Sampling
from memchat.terminal.front import run_chat
from tests.fakes import FakeChat
from tests.stage import make_app

WIDE = "日本語と🎉絵文字、👨‍👩‍👧家族。" * 12


class Scripted(FakeChat):
    """Replies by scene, piece by piece."""

    def __init__(self, scene: str) -> None:
        super().__init__()
        self.scene = scene

    def stream(self, messages: Sequence[Message], sampling: Sampling, stop: Event) -> Iterator[Chunk]:
        for piece in self.pieces(messages[-1].content, stop):
            if stop.is_set():
                return
            yield Chunk(text=piece)
        if not stop.is_set():
            yield Chunk(done=Done())

    def pieces(self, said: str, stop: Event) -> Iterator[str]:
        """Yield what this scene answers to `said`."""
        if self.scene == "rows":
            yield from (f"row {number} of a long answer\n\n" for number in range(1, 201))
        elif self.scene == "slow rows":
            for number in range(1, 61):
                time.sleep(0.02)
                yield f"row {number} " + "word " * 10 + "\n"
        elif self.scene == "wide":
            yield from WIDE
        elif self.scene == "silent":
            stop.wait(30)
        elif self.scene == "endless":
            yield "Once "
            stop.wait(30)
        else:
            yield f"heard {len(said.splitlines())} lines, {len(said)} characters"


def main() -> int:
    """Run the scene."""
    folder, scene = Path(sys.argv[1]), sys.argv[2]
    model = Scripted(scene)
    if scene == "learning":
        model.before_json = Event()  # never set: learning takes for ever
    mode = "auto" if scene in ("learning", "learnt") else "off"
    app = make_app(folder, model, learn__mode=mode, learn__idle_seconds=1.0 if scene == "learnt" else 0.0)
    try:
        return run_chat(app, "normal")
    finally:
        app.close()


if __name__ == "__main__":
    sys.exit(main())
