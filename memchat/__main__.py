"""`python -m memchat`."""

from memchat.cli import run

run()
