"""Opens the embedded models: packs are verified first, a GGUF file of the user's own is taken as it is."""

import os.path
from pathlib import Path
from typing import TYPE_CHECKING

from memchat.engine.pack_table import MINILM, PACKS
from memchat.engine.packs import find_pack, is_pack, verify
from memchat.errors import ModelMissing, UsageError

if TYPE_CHECKING:
    from memchat.engine.llama import LlamaChat
    from memchat.engine.minilm import MiniLmEmbedder


def open_chat(folder: Path, which: str, num_ctx: int = 8192, threads: int | None = None) -> "LlamaChat":
    """Load the chat model: the pack of that name in `folder`, or the GGUF file at that path. Takes seconds.

    Raises ModelMissing when it is not there, EngineFailed when it is damaged or cannot be loaded.
    """
    from memchat.engine.llama import LlamaChat  # late, with all it imports, since most runs need no model

    if is_pack(which):
        pack = find_pack(which)
        if pack.role != "chat":
            raise UsageError(f"The pack {which} makes vectors and cannot chat: choose standard or small.")
        path, *_ = verify(folder, pack)
        return LlamaChat(path, name=pack.model, digest=pack.main.sha256, num_ctx=num_ctx, threads=threads)
    path = Path(os.path.expanduser(which))
    if not os.path.exists(path) and path.suffix.lower() != ".gguf" and path.name == which:
        chats = " or ".join(pack.name for pack in PACKS if pack.role == "chat")
        raise ModelMissing(f"There is no embedded model {which}: choose {chats}, or give the path of a GGUF file.")
    return LlamaChat(path, num_ctx=num_ctx, threads=threads)


def open_embedder(folder: Path, threads: int | None = None) -> "MiniLmEmbedder":
    """Load the embedding model from `folder`; raises as `open_chat` does."""
    from memchat.engine.minilm import MiniLmEmbedder

    weights, tokenizer = verify(folder, MINILM)
    return MiniLmEmbedder(weights, tokenizer, MINILM.main.sha256, threads)
