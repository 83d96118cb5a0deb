from avatar_cli.evaluation.quality.borders import ChunkLengths, border_figures


def test_a_jump_at_every_border_is_seen_where_it_is(face_curves, wander):
    frames = 600
    opening = wander(1, frames)
    for border in range(50, frames, 60):  # where I chunks begin
        opening[border:] += 20
    for border in range(60, frames, 60):  # and N chunks after them
        opening[border:] -= 20
    curves = face_curves(frames, gap=opening, yaw=wander(2, frames), brow_y=wander(3, frames))

    found = border_figures(curves, ChunkLengths(50, 10))

    assert found["mouth"].position_above == 1
    assert found["mouth"].borders == 19
    assert found["pose"].position_above < 0.3
    assert found["brows"].position_above < 0.3


def test_a_video_within_one_chunk_has_no_border(face_curves):
    assert border_figures(face_curves(48), ChunkLengths(48, 10)) == {}


def test_a_part_that_never_moves_is_left_out(face_curves, wander):
    curves = face_curves(200, gap=wander(1, 200), yaw=wander(2, 200))

    assert border_figures(curves, ChunkLengths(48, 10)).keys() == {"mouth", "pose"}
