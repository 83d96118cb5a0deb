"""The words a prompt may hold, for whoever checks a prompt before anything heavy is loaded."""

# Left and right are those of whoever looks at the picture.
WORDS = (
    *("calm", "lively", "happy", "serious", "sad", "surprised", "smiling"),
    *("still head", "nodding"),
    *("looking left", "looking right", "looking up", "looking down"),
)
INTENSITIES = {"slightly": 0.5, "very": 1.5}  # what may stand before a word
OPPOSITES = (  # cannot hold at the same time
    ("calm", "lively"),
    ("still head", "nodding"),
    ("looking left", "looking right"),
    ("looking up", "looking down"),
)
