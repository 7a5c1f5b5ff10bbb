"""memchat: a terminal chat assistant with a long-term memory that never leaves the machine."""

__version__ = "0.1.0"
