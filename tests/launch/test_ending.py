import pytest

from avatar_cli.launch.ending import HEAD_START, Evidence, conclude
from avatar_cli.protocol.events import Failed, Finished
from avatar_cli.protocol.exit_codes import ExitCode

DONE = Finished("out.mp4", 10, 0.4, 9.0)


def failed(message, time, rank=0, code=ExitCode.FAILED, stage="", chunk=""):
    return Failed(int(code), message, rank, stage, chunk, time, traceback="")


def test_the_first_error_in_time_is_the_one_that_counts():
    later, earlier = failed("later", 2.0, rank=0), failed("earlier", 1.0, rank=1, code=ExitCode.ENVIRONMENT)
    ending = conclude(Evidence(errors=[later, earlier]))
    assert (ending.code, ending.message) == (ExitCode.ENVIRONMENT, "earlier")


def test_a_death_comes_before_the_error_it_caused():
    evidence = Evidence(
        errors=[failed("connection closed", 5.0, rank=0)],
        deaths=[failed("rank 1 was killed", 5.0 + HEAD_START / 2, rank=1)],
    )
    assert conclude(evidence).message == "rank 1 was killed"


def test_a_death_long_after_an_error_does_not_hide_it():
    evidence = Evidence(
        errors=[failed("disk full", 5.0, rank=0)], deaths=[failed("killed", 5.0 + 2 * HEAD_START, rank=1)]
    )
    assert conclude(evidence).message == "disk full"


def test_the_launcher_does_not_speak_for_a_rank_that_spoke_itself():
    evidence = Evidence(errors=[failed("disk full", 5.0)], deaths=[failed("status 4", 5.1)])
    assert conclude(evidence).message == "disk full"


def test_ranks_that_were_told_to_stop_are_not_the_cause():
    evidence = Evidence(
        errors=[
            failed("told to stop", 1.0, rank=0, code=ExitCode.INTERRUPTED),
            failed("disk full", 2.0, rank=1),
        ]
    )
    assert conclude(evidence).message == "disk full"


def test_a_video_that_is_complete_is_a_success_whatever_came_after():
    assert conclude(Evidence(finished=DONE, interrupted=True, launcher_status=-9)).code is ExitCode.DONE


def test_what_happens_after_an_interrupt_is_the_interrupt():
    evidence = Evidence(errors=[failed("broken pipe", 1.0)], interrupted=True)
    assert conclude(evidence).code is ExitCode.INTERRUPTED


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        (Evidence(launcher_status=-9, vanished={0}), "The launcher was killed by SIGKILL."),
        (Evidence(launcher_status=0, vanished={2, 1}), "Rank 1 ended before its work was done"),
        (Evidence(launcher_status=1), "The launcher ended with status 1"),
    ],
)
def test_silence_has_a_sentence_too(evidence, message):
    ending = conclude(evidence)
    assert ending.code is ExitCode.FAILED
    assert ending.message.startswith(message)


def test_stage_and_chunk_are_named():
    ending = conclude(Evidence(errors=[failed("Out of memory.", 1.0, stage="sr", chunk="I3")]))
    assert ending.message == "Out of memory (stage sr, chunk I3)."


def lost(time, rank=0):
    return Failed(5, f"Rank {rank} got no answer.", rank, "a2v", "N1", time, traceback="", about_peers=True)


def test_a_death_is_the_cause_however_late_it_is_heard_of():
    evidence = Evidence(errors=[lost(1.0)], deaths=[failed("rank 1 was killed", 9.0, rank=1)])
    assert conclude(evidence).message == "rank 1 was killed"


def test_of_ranks_that_lost_others_the_one_that_says_nothing_is_named():
    silences = {rank: failed(f"Rank {rank} is silent.", 9.0, rank, stage="sr") for rank in range(3)}
    evidence = Evidence(errors=[lost(1.0, rank=0), lost(1.1, rank=2)], silences=silences)
    assert conclude(evidence).message == "Rank 1 is silent (stage sr)."
    evidence.errors.append(lost(1.2, rank=1))
    assert conclude(evidence).message == "Rank 0 got no answer (stage a2v, chunk N1)."


def test_a_stopped_rank_is_the_cause_of_what_others_say_meanwhile():
    stop = failed("rank 1 was stopped", 10.0, rank=1)
    evidence = Evidence(errors=[failed("connection lost", 8.0, rank=0)], stopped={1: stop})
    assert conclude(evidence).message == "rank 1 was stopped"


def test_a_command_without_the_publishing_rank_is_done_when_its_rank_is():
    assert conclude(Evidence(publishes=False, launcher_status=0)).code is ExitCode.DONE
    assert conclude(Evidence(publishes=False, vanished={3})).code is ExitCode.FAILED
    assert conclude(Evidence(publishes=True, launcher_status=0)).code is ExitCode.FAILED
