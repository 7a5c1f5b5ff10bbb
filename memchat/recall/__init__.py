"""The read path: what is asked, which memories answer it, which of them the model is given, and why."""

from memchat.recall.embed import ensure_embedded
from memchat.recall.evaluate import compare, evaluate
from memchat.recall.explain import expectation, explain, replay
from memchat.recall.options import RecallOptions
from memchat.recall.profile import build_profile
from memchat.recall.questions import read_questions
from memchat.recall.read import recall
from memchat.recall.rerank import second_look
from memchat.recall.select import block_of

__all__ = [
    "RecallOptions",
    "block_of",
    "build_profile",
    "compare",
    "ensure_embedded",
    "evaluate",
    "expectation",
    "explain",
    "read_questions",
    "recall",
    "replay",
    "second_look",
]
