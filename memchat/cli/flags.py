"""Options that many commands have, as Typer reads them."""

from typing import Annotated

import typer

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
