"""The parts of `make quality`, each of which renders, watches and measures by itself."""

from avatar_cli.evaluation.held_out import CLIPS
from avatar_cli.evaluation.quality import summary
from avatar_cli.evaluation.quality.baselines import baselines
from avatar_cli.evaluation.quality.dense import dense_rows, judge_dense, mean_residual
from avatar_cli.evaluation.quality.found import Found, Part, Work, say
from avatar_cli.evaluation.quality.mouths import mouth_curves, score_mouth
from avatar_cli.evaluation.quality.people import film
from avatar_cli.evaluation.quality.prompts import measure_prompts
from avatar_cli.evaluation.quality.reference_video import measure_reference_video
from avatar_cli.evaluation.quality.scenes import long_scene, stillness
from avatar_cli.evaluation.quality.seam_drawing import draw_seams

_SEAMS = "quality-seams.svg"


def measure_people(work: Work) -> Found:
    """Lips, head and identity of everybody, and the mouths of the baselines."""
    mouths, embedder = baselines(work.media), work.embedder()
    people = []
    for clip in CLIPS:
        people.append(film(clip, work.media, work.folder, embedder))
        say(f"{clip.name}: rendered and watched")
    scores = {summary.RENDERED: [score_mouth(mouth_curves(p.pairing.rendered), p) for p in people]}
    for name, mouth in mouths.items():
        scores[name] = [score_mouth(mouth(person), person) for person in people]
        say(f"{name}: judged")
    rows = summary.mouth_rows(scores, people) + summary.people_rows(people)
    table = summary.people_table(people, scores[summary.RENDERED])
    return Found(rows, (*scores, summary.REAL), f"### By recording\n\n{table}")


def measure_stillness(work: Work) -> Found:
    """Silence and music."""
    rows = summary.stillness_rows(stillness(work.media, work.folder))
    say("silence and music: rendered and watched")
    return Found(rows)


def measure_long_scene(work: Work) -> Found:
    """Ten minutes."""
    scene = long_scene(work.media, work.folder, work.embedder())
    say("ten minutes: rendered and watched")
    picture = f"![Jumps around borders]({_SEAMS})"
    section = f"### Borders of chunks, with and without I chunks\n\n{summary.seam_table(scene)}\n\n{picture}"
    drawing = draw_seams({name: (each.curves, each.lengths) for name, each in scene.schedules.items()})
    return Found(summary.long_rows(scene), section=section, drawings={_SEAMS: drawing})


def measure_dense(work: Work) -> Found:
    """Faces as a whole, as the second network moves them."""
    residuals = judge_dense(work.media)
    say("whole faces: judged")
    section = f"### The face as a whole, beyond the nine distances\n\n{dense_rows(residuals)}"
    return Found(summary.dense_summary(mean_residual(residuals)), section=section)


PARTS: dict[str, Part] = {
    "people": measure_people,
    "stillness": measure_stillness,
    "long": measure_long_scene,
    "dense": measure_dense,
    "prompts": measure_prompts,
    "reference-video": measure_reference_video,
}


def measure_part(name: str, work: Work) -> Found:
    """One of `PARTS` by its name."""
    return PARTS[name](work)
