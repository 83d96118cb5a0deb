"""avatar: turn a picture of a person and a recording of speech into a video of that person speaking."""

__version__ = "0.1.0"
