"""`avatar models`: what can be rendered with."""


def models() -> None:
    """List the models that --model takes, with what they are."""
    from rich.console import Console
    from rich.table import Table

    from avatar_cli.cli.presets import load_preset, preset_names

    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("model", "family", "size", "fps", "prompt words", "what it is"):
        table.add_column(heading, overflow="fold")
    for name in preset_names():
        preset = load_preset(name)
        picture = preset.defaults["picture"]
        vocabulary = preset.vocabulary
        words = f"{', '.join(vocabulary.words)}; before each: {', '.join(vocabulary.intensities)}"
        row = (preset.name, preset.family, picture["size"], str(picture["fps"]), words, preset.description)
        table.add_row(*row)
    Console(highlight=False).print(table)
