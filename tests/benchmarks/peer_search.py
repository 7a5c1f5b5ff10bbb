"""Runs in the peers' environment: loads vectors into a peer, then answers each line (a round) with its seconds.

Arguments: chroma or qdrant, an empty folder, two .npy files (vectors, queries), the number of users. It imports nothing
of this project.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

_BATCH = 1000
_NEIGHBOURS = 20
Search = Callable[[int], object]


def main() -> None:
    """Load, say so, and search whenever asked."""
    name, folder, vectors, queries, users = sys.argv[1:]
    load = {"chroma": load_chroma, "qdrant": load_qdrant}[name]
    search = load(Path(folder), np.load(vectors), np.load(queries), int(users))
    tell(0.0)
    for line in sys.stdin:
        started = time.process_time()
        search(int(line))
        tell(time.process_time() - started)


def tell(seconds: float) -> None:
    """Write one answer."""
    sys.stdout.write(json.dumps({"seconds": seconds}) + "\n")
    sys.stdout.flush()


def owners(count: int, users: int) -> list[int]:
    """Return the user of each vector: four keys in a row are one memory, memories go to the users in turn."""
    return [place // 4 % users for place in range(count)]


def load_chroma(folder: Path, vectors: np.ndarray, queries: np.ndarray, users: int) -> Search:
    """Fill chromadb's persistent client."""
    import chromadb  # type: ignore[import-not-found]

    made = chromadb.PersistentClient(str(folder)).create_collection("keys", metadata={"hnsw:space": "cosine"})
    owner = owners(len(vectors), users)
    for start in range(0, len(vectors), _BATCH):
        places = range(start, min(len(vectors), start + _BATCH))
        made.add(
            ids=[str(place) for place in places],
            embeddings=vectors[places.start : places.stop],
            metadatas=[{"user": owner[place]} for place in places],
        )
    return lambda turn: made.query(query_embeddings=queries[turn : turn + 1], n_results=_NEIGHBOURS, where={"user": 0})


def load_qdrant(folder: Path, vectors: np.ndarray, queries: np.ndarray, users: int) -> Search:
    """Fill Qdrant's local mode, which is what mem0 uses by default."""
    from qdrant_client import QdrantClient, models  # type: ignore[import-not-found]

    client = QdrantClient(path=str(folder))
    size = models.VectorParams(size=vectors.shape[1], distance=models.Distance.COSINE)
    client.create_collection("keys", vectors_config=size)
    owner = owners(len(vectors), users)
    for start in range(0, len(vectors), _BATCH):
        places = range(start, min(len(vectors), start + _BATCH))
        points = [
            models.PointStruct(id=place, vector=vectors[place].tolist(), payload={"user": owner[place]})
            for place in places
        ]
        client.upsert("keys", points)
    mine = models.Filter(must=[models.FieldCondition(key="user", match=models.MatchValue(value=0))])
    asked = [query.tolist() for query in queries]
    return lambda turn: client.query_points("keys", query=asked[turn], query_filter=mine, limit=_NEIGHBOURS)


if __name__ == "__main__":
    main()
