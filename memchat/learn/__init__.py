"""The write path: what the user says of themself becomes memories; the model proposes, code disposes."""

from memchat.learn.explicit import explicit_request
from memchat.learn.options import LearnOptions
from memchat.learn.secrets import redact_secrets
from memchat.learn.turn import Learned, learn_turn
from memchat.learn.wishes import approve, reject, store_explicit
from memchat.learn.worker import Learner

__all__ = [
    "LearnOptions",
    "Learned",
    "Learner",
    "approve",
    "explicit_request",
    "learn_turn",
    "redact_secrets",
    "reject",
    "store_explicit",
]
