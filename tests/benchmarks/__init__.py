"""The benchmarks: every figure is a ratio of two things measured in alternation on this machine.

    python -m tests.benchmarks                       the quick rows, some minutes
    python -m tests.benchmarks search store          some rows
    python -m tests.benchmarks --full --json new.json --compare old.json

Nothing here is asserted by the tests but that it runs.
"""
