"""Options of the command line, with their words in --help, for all commands that share them.

Values of settings stay text here: cli/settings.py reads them, whether they come from a flag, -s or a file.
"""

from pathlib import Path
from typing import Annotated

import typer

_IN_OUT = "Input and output"
_PICTURE = "Picture"
_GENERATION = "Generation"
_COMPUTE = "Compute"
_TELLING = "What the tool tells"
_OURS = False  # typer must not look at inputs: to it, one that cannot be read is a wrong command line

Reference = Annotated[
    Path,
    typer.Argument(
        metavar="REF",
        help="Photo of the person: JPEG, PNG, WebP, AVIF, TIFF, BMP, GIF and more; or a video of the person: "
        "MP4, MOV, MKV, WebM and more. Told by content.",
        show_default=False,
        readable=_OURS,
    ),
]
Speech = Annotated[
    Path,
    typer.Argument(
        metavar="SPEECH",
        help="Recording of the speech, of any length: anything that ffmpeg reads, also a video with sound; "
        "- or a pipe is rendered while it arrives.",
        show_default=False,
        readable=_OURS,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="OUT.mp4",
        help="The video. Without it the name follows the speech's, or REF's where the speech comes through a "
        "pipe, in the current folder, and is printed.",
        rich_help_panel=_IN_OUT,
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace OUT.mp4 where it exists.", rich_help_panel=_IN_OUT)
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        metavar="FILE",
        help="YAML file with settings, in the form of configs/portrait.yaml. Flags win over it.",
        rich_help_panel=_IN_OUT,
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        "-s",
        metavar="KEY=VALUE",
        help="Set any key of the configuration, such as -s encoding.crf=18; may be repeated.",
        rich_help_panel=_IN_OUT,
    ),
]
Size = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="360p, 540p, 720p, 1080p, WxH, or source. The named ones are upright where REF is taller than "
        r"wide. \[default: 720p]",
        rich_help_panel=_PICTURE,
    ),
]
FitOption = Annotated[
    str | None,
    typer.Option(
        "--fit",
        metavar="crop|pad",
        help=r"How a REF of another shape fits: cropped around the face, or padded. \[default: crop]",
        rich_help_panel=_PICTURE,
    ),
]
Fps = Annotated[
    str | None,
    typer.Option(
        metavar="RATE",
        help=r"Frames a second: 25, 29.97, 30000/1001. \[default: 25]",
        rich_help_panel=_PICTURE,
    ),
]
Background = Annotated[
    str | None,
    typer.Option(
        metavar="COLOUR|IMAGE",
        help="The scene behind a cut-out REF (one with transparency) and in bars: a name, #rrggbb, or a "
        r"picture, which is cut to the video's shape; ./red is a file, red a colour. \[default: black]",
        rich_help_panel=_PICTURE,
    ),
]
Face = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help=r"Who speaks where REF shows several faces, counted from the left. \[default: the largest]",
        rich_help_panel=_PICTURE,
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help=r"One of `avatar models`. \[default: portrait]",
        rich_help_panel=_GENERATION,
    ),
]
Prompt = Annotated[
    str | None,
    typer.Option(
        metavar="WORDS|FILE",
        help="How the person speaks: words that `avatar models` lists, such as 'very happy, nodding', or a "
        ".yaml file that gives times to them: lines such as `0:12.5: slightly sad`.",
        rich_help_panel=_GENERATION,
    ),
]
Seed = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help=r"Same seed, same frames, same nods and blinks: vary it in a series of videos. \[default: 0]",
        rich_help_panel=_GENERATION,
    ),
]
Steps = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help=r"Steps of the base model's sampler: more are slower. \[default: 6]",
        rich_help_panel=_GENERATION,
    ),
]
Preview = Annotated[
    bool,
    typer.Option(
        "--preview",
        help="Quick look: 360p, two steps, fastest encoder preset. Other flags still win.",
        rich_help_panel=_GENERATION,
    ),
]
ModeOption = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="streaming|batch",
        help=r"Chunk by chunk, or stage by stage over the whole video; the frames are the same. "
        r"\[default: streaming]",
        rich_help_panel=_GENERATION,
    ),
]
Nproc = Annotated[
    str | None,
    typer.Option(
        metavar="N|auto",
        help="Processes that share the models, each with a GPU where there are some; auto is one for each "
        r"visible GPU. Those that torchrun or srun have started are joined. \[default: 1]",
        rich_help_panel=_COMPUTE,
    ),
]
Threads = Annotated[
    str | None,
    typer.Option(
        metavar="N",
        help=r"Threads of each process for tensors. Another number can change the last bit of a sum. "
        r"\[default: 1]",
        rich_help_panel=_COMPUTE,
    ),
]
ReportFile = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="Write a JSON report: time to first frame step by step, frames/s, time a stage, memory.",
        rich_help_panel=_TELLING,
    ),
]
TraceFile = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        help="Write a trace of all processes that ui.perfetto.dev opens.",
        rich_help_panel=_TELLING,
    ),
]
FrameHashes = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write one hash a frame, of the RGB that the encoder gets.",
        rich_help_panel=_TELLING,
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Events as JSON lines on stdout, and nothing else there.", rich_help_panel=_TELLING
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.", rich_help_panel=_TELLING)]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show tracebacks, and what libraries print.", rich_help_panel=_TELLING),
]
