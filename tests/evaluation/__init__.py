"""Scores of the write path on labelled sets, by one command: `python -m tests.evaluation --help`."""
