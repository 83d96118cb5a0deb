"""The `avatar` command: joins the commands, speaks to the user when one ends early."""

import os
import signal
import sys
import traceback
from types import FrameType
from typing import TYPE_CHECKING, Any

from avatar_cli import __version__
from avatar_cli.launch.agent_process import SESSION, AgentProcess
from avatar_cli.launch.process_start import process_start
from avatar_cli.protocol.errors import AvatarError, Interrupted
from avatar_cli.protocol.exit_codes import ExitCode

if TYPE_CHECKING:
    import typer

PROGRAM = "avatar"

_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class _EndedBySignal(BaseException):
    """Ctrl-C or a signal of the system before a job runs; typer would keep a KeyboardInterrupt to itself."""


def run(arguments: list[str], session: str = SESSION) -> int:
    """Run one command; returns its exit code.

    Args:
        arguments: The words after `avatar`.
        session: Module with the ranks' run(job, emit, stop).
    """
    started = process_start()
    agent = None
    try:
        for number in _ENDING_SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, _interrupt)
        if _will_render(arguments):
            # The launcher imports torch for a second or more. It starts before this process imports what
            # reads the command line, let alone before the inputs are checked.
            agent = AgentProcess(session)
        return _run_command(arguments, started, agent)
    except _EndedBySignal:
        for number in _ENDING_SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not end the end
        print("avatar: interrupted; nothing was written.", file=sys.stderr)
        return ExitCode.INTERRUPTED
    finally:
        if agent:
            agent.kill()


def build_app() -> "typer.Typer":
    """The commands and what they share."""
    import typer

    from avatar_cli.cli import bench, evaluate, models, render

    app = typer.Typer(
        name=PROGRAM,
        help="Turn a photo of a person and a recording of speech into a video of that person speaking.",
        epilog="`avatar COMMAND --help` tells more about a command.",
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
    )
    app.command(epilog=render.EPILOG)(render.render)
    app.command(epilog=evaluate.EPILOG)(evaluate.evaluate)
    app.add_typer(models.app, name="models")
    app.add_typer(bench.app, name="bench")

    def show_version(asked: bool) -> None:
        if asked:
            print(f"{PROGRAM} {__version__}")
            raise typer.Exit

    @app.callback()
    def common(
        version: bool = typer.Option(
            False, "--version", callback=show_version, is_eager=True, help="Show the version and exit."
        ),
    ) -> None:
        pass

    return app


def _run_command(arguments: list[str], started: float, agent: AgentProcess | None) -> int:
    import typer

    from avatar_cli.cli.messages import complain, say
    from avatar_cli.cli.request import Start

    # click's UsageError; typer carries click inside and only exports classes derived from it
    usage_error: Any = typer.BadParameter.__bases__[0]
    command = typer.main.get_command(build_app())
    start = Start(started, agent) if agent else None
    try:
        code = command.main(arguments or ["--help"], PROGRAM, standalone_mode=False, obj=start)
    except usage_error as error:
        message, context = error.format_message(), error.ctx
        complain(f"{message.rstrip('.?')}; see `{context.command_path if context else PROGRAM} --help`.")
        return ExitCode.USAGE
    except Interrupted as error:
        say(error.message)
        return error.code
    except AvatarError as error:
        complain(error.message)
        if "--debug" in arguments:
            traceback.print_exc()
        return error.code
    except OSError as error:
        complain(f"The system refused something that the command needs ({error}).")
        if "--debug" in arguments:
            traceback.print_exc()
        return ExitCode.ENVIRONMENT
    return int(code or ExitCode.DONE)


def _will_render(arguments: list[str]) -> bool:
    """Whether this looks like a render; a wrong guess costs a process that is ended at once."""
    helping = {"-h", "--help"} & set(arguments) or f"_{PROGRAM.upper()}_COMPLETE" in os.environ
    return arguments[:1] == ["render"] and len(arguments) >= 3 and not helping


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise _EndedBySignal
