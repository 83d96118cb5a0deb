import ast
import json
from pathlib import Path

import avatar_cli.families.portrait.training as training
from avatar_cli.families.portrait.training.identities import PORTRAITS
from avatar_cli.families.portrait.training.split import HELDOUT_CLIPS, TRAINING_CLIPS

FOLDER = Path(training.__file__).parent


def test_no_clip_teaches_and_judges():
    assert not set(TRAINING_CLIPS) & set(HELDOUT_CLIPS)
    assert len(TRAINING_CLIPS) == 6


def test_nothing_of_a_heldout_person_is_in_the_other_training_data():
    spoken = json.loads((FOLDER / "transcripts.json").read_text("utf-8"))
    people = {name.split("_")[1] for name in HELDOUT_CLIPS if name.startswith("g_")}
    for name in (*spoken, *PORTRAITS):
        assert not any(person in name for person in people)
        assert name not in HELDOUT_CLIPS


def test_only_the_judge_reads_the_heldout_clips():
    readers = set()
    for path in FOLDER.glob("*.py"):
        names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
        if "HELDOUT_CLIPS" in names and path.name != "split.py":
            readers.add(path.name)
    assert readers == {"heldout.py"}
