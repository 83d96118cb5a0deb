"""`avatar` and `python -m avatar_cli`: hears Ctrl-C before the command itself is imported."""

import os
import sys


def main() -> None:
    """Entry point of the console script."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: _leave())
    from avatar_cli.cli.app import run
    from avatar_cli.cli.streams import settle_streams

    settle_streams()
    sys.exit(run(sys.argv[1:]))


def _leave() -> None:
    """End at once: nothing has begun, and an exception would be lost in some places of an import."""
    try:  # noqa: SIM105 - contextlib would have to be imported
        os.write(2, b"avatar: interrupted; nothing was written.\n")
    except OSError:  # nobody listens
        pass
    os._exit(130)


try:
    import signal
except KeyboardInterrupt:
    _leave()

if __name__ == "__main__":
    main()
