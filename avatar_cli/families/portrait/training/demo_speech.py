"""`python -m avatar_cli.families.portrait.training.demo_speech`: speak the demo text with Kokoro-82M."""

import argparse
import wave
from pathlib import Path

import numpy as np

from avatar_cli.families.portrait.training.speech_kokoro import RATE, Kokoro, to_ipa

SENTENCES = (
    "Hello! I am only a photograph, and yet here I am, talking to you.",
    "Give me any voice, for as long as you like, and I will speak along, frame by frame.",
)
LANGUAGE = "en-us"
VOICE = "jf_alpha"
SPEED = 0.95
PEAK = 0.7
PAUSE_SECONDS = 0.25


def speak(voice: str = VOICE, speed: float = SPEED) -> np.ndarray:
    """The demo text, float32 [n] at 24 kHz with a short pause between the sentences."""
    kokoro = Kokoro()
    pieces = [np.zeros(int(PAUSE_SECONDS * RATE), np.float32)]
    for sentence in SENTENCES:
        letters = kokoro.known_letters(to_ipa(sentence, LANGUAGE))
        pieces += [kokoro.speak(letters, kokoro.style(voice, letters), speed).samples, pieces[0]]
    samples = np.concatenate(pieces)
    return samples * (PEAK / np.abs(samples).max())


def main() -> None:
    """Write the demo speech."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path, nargs="?", default=Path("assets/demo/speech.wav"))
    parser.add_argument("--voice", default=VOICE)
    arguments = parser.parse_args()
    samples = np.round(speak(arguments.voice) * 32767).astype("<i2")
    with wave.open(str(arguments.output), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.tobytes())


if __name__ == "__main__":
    main()
