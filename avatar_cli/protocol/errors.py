"""Errors that a user can act on: one sentence that says what is wrong, with which file, and what to do."""

from avatar_cli.protocol.exit_codes import ExitCode


class AvatarError(Exception):
    """Base of every error that is shown to the user without a traceback."""

    code: ExitCode = ExitCode.FAILED

    def __init__(self, message: str, *, stage: str = "", chunk: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.stage = stage  # where in the pipeline it happened, empty outside of it
        self.chunk = chunk


class UsageError(AvatarError):
    """The command line or the configuration file asks for something that cannot be."""

    code = ExitCode.USAGE


class InputError(AvatarError):
    """A reference or a recording cannot be used."""

    code = ExitCode.BAD_INPUT


class EnvironmentProblem(AvatarError):
    """Something this machine lacks: a program, a module, weights, space."""

    code = ExitCode.ENVIRONMENT


class RenderFailure(AvatarError):
    """The job started and did not reach its end."""

    code = ExitCode.FAILED


class Interrupted(AvatarError):
    """The user (Ctrl-C) or the system (SIGTERM) ended the job."""

    code = ExitCode.INTERRUPTED
