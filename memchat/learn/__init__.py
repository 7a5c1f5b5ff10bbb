"""The write path: what the user says of themself becomes memories; the model proposes, code disposes."""

from memchat.learn.explicit import explicit_request
from memchat.learn.secrets import redact_secrets

__all__ = ["explicit_request", "redact_secrets"]
