"""Every error memchat raises on purpose, each with its exit status and one sentence that says what to do.

MemchatError                    1
├── UsageError                  2   wrong option, value or file content named by the user
│   └── ConfigError             2
├── NotFound                    3   what the caller named is not there
├── EngineError                 4
│   ├── EngineUnreachable       4   no server, or none that speaks Ollama's language
│   ├── ModelMissing            4   the server is there, the model is not
│   ├── EngineFailed            4   the model broke, ran out of memory or time
│   └── PromptTooLong           1   the prompt does not fit the context window
├── PrivacyRefusal              5   text would leave this machine, or a secret would be kept
│   ├── SecretFound             5   the text has the shape of a secret; may be confirmed
│   └── ForgottenBefore         5   the user had this forgotten; may be allowed again
├── StoreError                  1
│   ├── StoreUnusable           1   not ours, broken, a newer version, no rights
│   ├── StoreBusy               1   another process holds the file for too long
│   └── StoreFull               1   the disk is full
└── Cancelled                 130   the user stopped it
"""


class MemchatError(Exception):
    """An error told to the user as one sentence; `exit_status` is what the command line returns."""

    exit_status = 1

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class UsageError(MemchatError):
    """The caller asked for something that makes no sense."""

    exit_status = 2


class ConfigError(UsageError):
    """The config file or a setting is wrong."""


class NotFound(MemchatError):
    """What the caller named is not there."""

    exit_status = 3


class EngineError(MemchatError):
    """No reply can be had from a model."""

    exit_status = 4


class EngineUnreachable(EngineError):
    """Nothing answers at the host, or what answers is not Ollama."""


class ModelMissing(EngineError):
    """The engine is there, but the model is not."""


class EngineFailed(EngineError):
    """The model or its server failed while working."""


class PromptTooLong(EngineError):
    """The prompt does not fit the model's context window."""

    exit_status = 1


class PrivacyRefusal(MemchatError):
    """Text would leave this machine, or a secret would be kept."""

    exit_status = 5


class SecretFound(PrivacyRefusal):
    """A text to be kept has the shape of a secret, and nobody confirmed it."""


class ForgottenBefore(PrivacyRefusal):
    """A text to be kept is one that the user had forgotten, and nobody allowed it again."""


class StoreError(MemchatError):
    """The memory file cannot do what was asked."""


class StoreUnusable(StoreError):
    """The memory file is not ours, broken, newer than this program, or not accessible."""


class StoreBusy(StoreError):
    """Another process holds the memory file for longer than we wait."""


class StoreFull(StoreError):
    """The disk is full; nothing was written."""


class Cancelled(MemchatError):
    """The user stopped the work."""

    exit_status = 130
