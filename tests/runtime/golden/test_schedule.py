from pathlib import Path

import pytest
from schedule import CHUNKS, PICTURE, SHARDED, STREAMED, streamed, to_svg, write_weights


def schedules() -> list[list[str]]:
    return [path.read_text().splitlines() for path in (STREAMED, SHARDED)]


def test_one_rank_keeps_to_the_golden_schedule(tmp_path: Path):
    write_weights(tmp_path)
    assert streamed(tmp_path) == STREAMED.read_text().splitlines()


@pytest.mark.parametrize("lines", schedules(), ids=["streamed", "sharded"])
def test_weights_come_before_what_needs_them_and_once_a_use(lines: list[str]):
    there: set[str] = set()
    for line in lines:
        *what, name = line.split()
        network = name.partition(".")[0]
        if what in (["copy"], ["gather"]):
            assert name not in there
            there.add(name)
        elif what == ["+", "forward"]:
            assert {name, f"{network}.root"} <= there
        elif what == ["-", "forward"]:
            there.remove(name)
        elif what == ["-", "leave"]:
            there.remove(f"{network}.root")
            assert not any(part.startswith(network) for part in there)
    assert there == {"a2v.root", "a2v.0"}  # for a fourth chunk


@pytest.mark.parametrize("lines", schedules(), ids=["streamed", "sharded"])
def test_the_next_network_comes_in_under_the_last_block_of_this_one(lines: list[str]):
    for network, following in (("a2v", "sr"), ("sr", "a2v")):
        leaves = [place for place, line in enumerate(lines) if line == f"+ leave {network}"]
        assert len(leaves) == CHUNKS
        for leave in leaves:
            begin = max(place for place in range(leave) if lines[place] == f"+ forward {network}.2")
            under = [line.split()[1] for line in lines[begin + 1 : leave - 1]]
            assert under == [f"{following}.root", f"{following}.0"]


def test_the_picture_in_the_docs_shows_the_golden_schedules():
    assert PICTURE.read_text() == to_svg(*schedules())
