"""`avatar render`: one reference, one speech, one video."""

import typer

from avatar_cli.cli import options
from avatar_cli.cli.request import Files, Request, Show

EXAMPLES = (
    "avatar render me.jpg speech.wav -o me.mp4",
    "avatar render me.png talk.mp3 --size 1080p --fps 30 --prompt smiling",
    "avatar render me.png talk.flac --preview --overwrite",
    "avatar render me.mp4 talk.wav",
    "avatar render me.png talk.wav --config mine.yaml -s encoding.crf=18",
)
WHILE_IT_RENDERS = (
    "OUT.partial.mp4 grows beside OUT.mp4 and can be played at any moment. It is moved to OUT.mp4 when it "
    "is complete; until then an existing OUT.mp4 is untouched. Ctrl-C leaves the partial file playable; a "
    "second Ctrl-C ends everything at once."
)
EXIT_CODES = "0 done, 2 usage, 3 bad input, 4 environment, 5 failed while running, 130 interrupted."
EPILOG = "\n".join(
    (
        "[bold]Examples[/bold]\n",
        *(f"  {example}" for example in EXAMPLES),
        f"\n[bold]While it renders[/bold], {WHILE_IT_RENDERS}",
        f"\n[bold]Exit codes[/bold]: {EXIT_CODES}",
    )
)


def render(
    context: typer.Context,
    reference: options.Reference,
    speech: options.Speech,
    output: options.Output = None,
    overwrite: options.Overwrite = False,
    config: options.Config = None,
    assignments: options.Assignments = None,
    size: options.Size = None,
    fit: options.FitOption = None,
    fps: options.Fps = None,
    background: options.Background = None,
    face: options.Face = None,
    model: options.Model = None,
    prompt: options.Prompt = None,
    seed: options.Seed = None,
    steps: options.Steps = None,
    preview: options.Preview = False,
    mode: options.ModeOption = None,
    nproc: options.Nproc = None,
    threads: options.Threads = None,
    report: options.ReportFile = None,
    trace: options.TraceFile = None,
    frame_hashes: options.FrameHashes = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> int:
    """Turn a photo or video of a person and a recording of speech into a video of that person speaking."""
    # Imported here, because `avatar --help` must not wait for what reads YAML and pictures.
    from avatar_cli.cli.run_render import run_render

    files = Files(reference, speech, output, overwrite, report, trace, frame_hashes)
    request = Request(context.params, tuple(assignments or ()), config, preview)
    return run_render(context.obj, files, request, Show(json=json, quiet=quiet, debug=debug))
