import re

from avatar_cli.evaluation.quality.borders import ChunkLengths
from avatar_cli.evaluation.quality.seam_drawing import draw_seams


def test_every_part_and_schedule_is_drawn_and_the_same_curves_give_the_same_picture(face_curves, wander):
    curves = face_curves(600, gap=wander(1, 600), brow_y=wander(2, 600), yaw=wander(3, 600))
    schedules = {"N and I": (curves, ChunkLengths(48, 10)), "N only": (curves, ChunkLengths(48, 0))}

    drawing = draw_seams(schedules)

    assert draw_seams(schedules) == drawing
    for words in ("mouth, step", "brows, change of velocity", "pose, step", "N only, 95th percentile"):
        assert f"<!-- {words} -->" in drawing
    assert len(re.findall(r"stroke: #ff7f0e", drawing)) >= 12  # two lines in each of six panels
