"""Fails every attempt to reach another machine: an audit hook, which no code of the process can get around.

`python -m tests.socket_guard REPORT URL HOME CALLS` installs it and then runs the commands of CALLS, a JSON list of
`[argv, stdin]`, in this one process; each attempt is also written to REPORT, should the program swallow the error.
"""

import ipaddress
import json
import os
import sys
from pathlib import Path

_NAMES = {"localhost", "", None}


def install(report: Path) -> None:
    """Watch every socket of this process from now on."""

    def watch(event: str, arguments: tuple) -> None:
        if event in ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"):
            place = arguments[1]
        elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
            place = arguments[0] if isinstance(arguments[0], tuple) else (arguments[0], 0)
        else:
            return
        if isinstance(place, tuple) and not is_here(place[0]):
            with report.open("a") as out:
                out.write(f"{event} {place!r}\n")
            raise PermissionError(f"the guard stopped {event} {place!r}")

    sys.addaudithook(watch)


def is_here(name: object) -> bool:
    """Tell whether a host is this machine, by its form alone."""
    name = name.decode() if isinstance(name, bytes) else name
    if name in _NAMES:
        return True
    try:
        return ipaddress.ip_address(str(name).partition("%")[0]).is_loopback
    except ValueError:
        return False


def main() -> None:
    """Run the commands and print what each gave, as JSON."""
    from tests.commands import Shell

    report, url, home, calls = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), json.loads(sys.argv[4])
    install(report)
    shell = Shell(home, url)
    shell.environ |= {name: os.environ[name] for name in os.environ if "PROXY" in name.upper() or "API_KEY" in name}
    results = [shell.run(*argv, stdin=stdin) for argv, stdin in calls]
    sys.stdout.write(json.dumps([[result.status, result.out, result.err] for result in results]) + "\n")


if __name__ == "__main__":
    main()
