"""From a command line to a job: everything that can be wrong is found here, before anything is computed."""

import os
import re
import resource
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from avatar_cli.cli.configuration import Configuration
from avatar_cli.cli.processes import resolve_compute
from avatar_cli.cli.request import Files
from avatar_cli.launch.ranks import own_ranks
from avatar_cli.media.background import background_file, resolve_background
from avatar_cli.media.ffmpeg import ffmpeg_path
from avatar_cli.media.input_path import STDIN
from avatar_cli.media.output_path import check_not_taken, check_output, partial_path
from avatar_cli.media.reference_in import probe_reference
from avatar_cli.media.sizes import derived_output, resolve_size
from avatar_cli.media.speech_in import probe_speech
from avatar_cli.protocol.errors import AvatarError, EnvironmentProblem, InputError, UsageError
from avatar_cli.protocol.job import Encoding, Fit, Generation, Mode, Picture, RenderJob

_OPEN_FILES, _OPEN_FILES_A_RANK = 56, 8  # somewhat more than the launcher and its ranks have at a time

_ADDRESS = re.compile(r"([a-z]+):/", re.IGNORECASE)  # pathlib makes one slash of two


def build_job(files: Files, configuration: Configuration, spool: Path | None = None) -> RenderJob:
    """Check inputs and outputs and resolve the job; the speech comes last, for it may have to be waited for.

    Args:
        files: As they were typed.
        configuration: All settings.
        spool: Where the speech is kept if it comes through a pipe.

    Raises:
        UsageError: OUT exists, is an input, or a size or colour cannot be.
        InputError: REF or SPEECH cannot be used.
        EnvironmentProblem: ffmpeg or a folder is missing, or this process may hardly open files.
    """
    _check_current_folder()
    compute = resolve_compute(configuration, os.environ)
    if compute.outer and spool:
        raise UsageError(
            "SPEECH comes through a pipe, which only one of the processes of an outer launcher could read: "
            "name a file."
        )
    _check_open_files(len(own_ranks(compute)))
    ffmpeg_path()
    if files.reference == STDIN:
        raise UsageError("REF cannot come from stdin, only SPEECH can: name a file.")
    for given in (files.reference, files.speech):
        _check_name(given, InputError)
        _check_no_address(given)
    output = files.output or derived_output(files.reference, files.speech)
    _check_name(output, UsageError)
    shape = probe_reference(files.reference)
    background = resolve_background(configuration["picture.background"])
    inputs = [files.reference, files.speech, *configuration.files]
    if scene := background_file(background):
        _check_name(scene, InputError)
        inputs.append(scene)
    check_output(output, files.overwrite, inputs)
    taken = [*inputs, output, partial_path(output)]
    for path in (files.report, files.trace, files.frame_hashes):
        if path is not None:
            _check_side_file(path, taken, files.overwrite)
            taken.append(path)
    width, height = resolve_size(configuration["picture.size"], shape)
    probe_speech(files.speech, spool)
    return RenderJob(
        reference=_absolute(files.reference),
        speech=str(STDIN) if files.speech == STDIN else _absolute(files.speech),
        output=_absolute(output),
        picture=Picture(
            width=width,
            height=height,
            fps=configuration["picture.fps"],
            fit=Fit(configuration["picture.fit"]),
            background=background,
            face=configuration["picture.face"],
        ),
        generation=Generation(
            model=configuration.preset.family,
            prompt=configuration["generation.prompt"],
            seed=configuration["generation.seed"],
            steps=configuration["generation.steps"],
            chunk_frames=configuration["chunks.frames"],
            interpolated_frames=configuration["chunks.interpolated"],
            border_frames=configuration["chunks.border"],
            mode=Mode(configuration["generation.mode"]),
        ),
        encoding=Encoding(
            preset=configuration["encoding.preset"],
            crf=configuration["encoding.crf"],
            audio_bitrate_kbps=configuration["encoding.audio_bitrate_kbps"],
        ),
        compute=compute,
        frame_hashes=_absolute(files.frame_hashes) if files.frame_hashes else None,
        spool=str(spool) if spool else None,
    )


def _check_current_folder() -> None:
    """Paths are made absolute, which needs one."""
    try:
        Path.cwd()
    except FileNotFoundError as error:
        raise EnvironmentProblem("The current folder was deleted: change to another one.") from error


def _check_open_files(ranks: int) -> None:
    """With too few, torch's launcher waits for a connection that cannot come."""
    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = _OPEN_FILES + _OPEN_FILES_A_RANK * ranks
    if allowed != resource.RLIM_INFINITY and allowed < needed:
        raise EnvironmentProblem(
            f"Only {allowed} files may be open at a time, too few to render: allow more by "
            f"`ulimit -n {needed}`."
        )


def _check_side_file(path: Path, taken: Iterable[Path], overwrite: bool) -> None:
    """Reports, traces and hashes never replace an input, the video or each other; else as the video does."""
    try:
        with suppress(FileNotFoundError):
            path.stat()  # fails on a name that no file can have
        if not path.parent.is_dir() or path.is_dir() or not os.access(path.parent, os.W_OK):
            raise UsageError(f"{path} cannot be written: name a file in a folder that exists.")
        check_not_taken(path, taken)
        if path.is_file() and not overwrite:
            raise UsageError(f"{path} exists: add --overwrite to replace it, or name another file.")
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}): choose another name.") from error


def _check_name(path: Path, kind: type[AvatarError]) -> None:
    """Bytes that are no text cannot be handed on in events, reports and sentences."""
    try:
        _absolute(path).encode()
    except UnicodeEncodeError as error:
        raise kind(f"The name of {path} is not UTF-8 text: rename the file or its folder.") from error


def _check_no_address(path: Path) -> None:
    if _ADDRESS.match(str(path)) and not path.exists():
        written = _ADDRESS.sub(r"\1://", str(path))
        raise InputError(f"{written} is an address, and avatar reads files only: download it first.")


def _absolute(path: Path) -> str:
    return str(path.absolute())
