import subprocess
import sys

import torch

from avatar_cli.families.portrait.text_encoder import TextEncoder, intensities
from avatar_cli.families.portrait.vocabulary import INTENSITIES, WORDS
from avatar_cli.protocol.job import PLAINLY, Prompted


def test_vocabulary_needs_no_torch():
    code = (
        "import sys; from avatar_cli.families.portrait.vocabulary import WORDS; "
        "assert WORDS; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_intensities_lie_on_either_side_of_the_usual_one():
    assert min(INTENSITIES.values()) < PLAINLY < max(INTENSITIES.values())


def test_no_prompt_is_all_zero():
    assert torch.equal(intensities(()), torch.zeros(1, len(WORDS)))


def test_every_word_has_a_place_of_its_own():
    meant = torch.cat([intensities([Prompted(word, 0.5)]) for word in WORDS])
    assert torch.equal(meant, 0.5 * torch.eye(len(WORDS)))


def test_order_of_words_makes_no_difference():
    one, other = Prompted("smiling", 1.5), Prompted("calm", 0.5)
    assert torch.equal(intensities((one, other)), intensities((other, one)))


@torch.no_grad()
def test_one_token_a_prompt_and_another_for_every_prompt():
    torch.manual_seed(0)
    encoder = TextEncoder()
    meant = [intensities(()), *(intensities([Prompted(word, 1.0)]) for word in WORDS)]
    meant.append(intensities([Prompted("calm", 1.0), Prompted("smiling", 0.5)]))
    tokens = encoder(torch.cat(meant))
    assert tokens.shape == (len(meant), 1, encoder.params.width)
    for index, first in enumerate(tokens):
        for second in tokens[index + 1 :]:
            assert not torch.allclose(first, second, atol=1e-3)
