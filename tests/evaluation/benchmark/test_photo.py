from avatar_cli.evaluation.benchmark.context import Bench
from avatar_cli.evaluation.benchmark.photo import _photos, measure_photo


def test_without_real_photos_the_row_says_so(tmp_path):
    figures = measure_photo(Bench(tmp_path, 1, None)).figures

    assert [figure.measured() for figure in figures] == ["not measured"] * 2
    assert all("AVATAR_TEST_MEDIA" in figure.note for figure in figures)


def test_the_same_photo_is_saved_at_two_megapixels_and_in_full(tmp_path):
    from PIL import Image

    Image.linear_gradient("L").resize((3000, 2000)).save(tmp_path / "original.jpg")

    usual, huge = _photos(tmp_path / "original.jpg", tmp_path, "PNG")

    with Image.open(usual) as small, Image.open(huge) as large:
        assert large.size == (3000, 2000)
        assert abs(small.width * small.height - 2e6) < 5000
        assert small.format == large.format == "PNG"
