import subprocess
import sys

import torch

from avatar_cli.families.portrait.text_encoder import NO_WORD, PROMPT_LENGTH, TextEncoder, word_ids
from avatar_cli.families.portrait.vocabulary import VOCABULARY


def test_vocabulary_needs_no_torch():
    code = (
        "import sys; from avatar_cli.families.portrait.vocabulary import VOCABULARY; "
        "assert VOCABULARY; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_no_prompt_is_all_padding():
    assert word_ids(()).tolist() == [[NO_WORD] * PROMPT_LENGTH]


def test_order_and_repetition_of_words_make_no_difference():
    assert torch.equal(word_ids(("smiling", "calm", "calm")), word_ids(("calm", "smiling")))


def test_every_word_has_an_id_of_its_own():
    ids = {tuple(word_ids((word,))[0].tolist()) for word in VOCABULARY}
    assert len(ids) == len(VOCABULARY)


@torch.no_grad()
def test_tokens_of_different_prompts_differ():
    torch.manual_seed(0)
    encoder = TextEncoder()
    prompts = [(), *((word,) for word in VOCABULARY), ("calm", "smiling")]
    tokens = [encoder(word_ids(words)) for words in prompts]
    assert tokens[0].shape == (1, PROMPT_LENGTH, encoder.params.width)
    for index, first in enumerate(tokens):
        for second in tokens[index + 1 :]:
            assert not torch.allclose(first, second, atol=1e-3)
