"""The rendered mouth against the real one, on people that no training has seen."""

import statistics
from collections.abc import Sequence

import numpy as np

from avatar_cli.evaluation.benchmark.context import MEDIA_VARIABLE, Bench
from avatar_cli.evaluation.benchmark.figures import Bounds, Detail, Figure, Measurement
from avatar_cli.evaluation.correlation import Match
from avatar_cli.evaluation.held_out import CLIPS
from avatar_cli.evaluation.mouth_accuracy import Pair, Swapped, in_step, make_pair, matched, swapped

_TITLES = ("mouth opening against the real person's, best lag within 2 frames", "... with swapped speech")
_BOUNDS = (Bounds("0.35", "0.45"), Bounds("0 ± 0.1", ""))


def measure_mouth(bench: Bench) -> Measurement:
    """Once, since a render with the same seed gives the same frames."""
    if bench.media is None:
        missing = f"needs {MEDIA_VARIABLE}"
        rows = zip(_TITLES, _BOUNDS, strict=True)
        return Measurement(tuple(Figure(title, bounds, "", 3, (), missing) for title, bounds in rows))
    pairs = []
    for clip in CLIPS:
        pairs.append(make_pair(clip, bench.media / "video" / clip.file, bench.folder))
        bench.say(f"mouth, {clip.name}: {matched(pairs[-1]).correlation:.2f}")
    best, others = [matched(pair) for pair in pairs], swapped(pairs)
    own_figure = Figure(
        _TITLES[0],
        _BOUNDS[0],
        "",
        3,
        (statistics.mean(match.correlation for match in best),),
        f"mean of {len(pairs)} recordings; at lag 0: {statistics.mean(map(in_step, pairs)):.3f}",
    )
    swapped_figure = Figure(
        _TITLES[1],
        _BOUNDS[1],
        "",
        3,
        (statistics.mean(pair.same_lag for pair in others),),
        f"mean of {len(others)} pairs at the lag of the matched ones; best of all lags, where chance alone "
        f"gives 0.2: {statistics.mean(pair.best_lag for pair in others):.3f}",
    )
    return Measurement((own_figure, swapped_figure), (_by_clip(pairs, best, others),))


def _by_clip(pairs: Sequence[Pair], best: Sequence[Match], others: Sequence[Swapped]) -> Detail:
    rows = []
    for pair, match in zip(pairs, best, strict=True):
        wrong = [other.same_lag for other in others if other.rendered == pair.clip.name]
        spoken = np.flatnonzero(pair.speech[: len(pair.rendered)])
        swing = pair.rendered[spoken].std() / pair.real[spoken].std()
        rows.append(
            (
                pair.clip.name,
                str(int(pair.speech.sum())),
                f"{match.correlation:.2f}",
                f"{match.lag:+d}",
                f"{in_step(pair):.2f}",
                f"{statistics.mean(wrong):.2f}",
                f"{swing:.2f}",
            )
        )
    header = ("recording", "speech frames", "best", "lag", "lag 0", "swapped", "sd, rendered over real")
    return Detail("Mouth opening, by recording", header, tuple(rows))
