"""prompt-toolkit's output for terminals of Unix, without the question where the cursor is.

The answer may come late and land in the next message, and some terminals never answer.
"""

import os
import sys

from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.output.vt100 import Vt100_Output


class UnaskingOutput(Vt100_Output):
    """Takes it that there is one row below the cursor; the terminal scrolls when more are drawn."""

    def get_rows_below_cursor_position(self) -> int:
        """Return a number above 0, without which the toolbar would stay hidden."""
        return 1


def quiet_output(output: Output) -> Output:
    """Return the output to use in place of `output`: the same kind, but not asking."""
    if not isinstance(output, Vt100_Output):
        return output
    unasking = UnaskingOutput.from_pty(
        sys.stdout, term=os.environ.get("TERM"), default_color_depth=ColorDepth.from_env()
    )
    unasking.enable_cpr = False
    return unasking
