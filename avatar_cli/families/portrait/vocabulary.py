"""The words a prompt may hold, for whoever checks a prompt before anything heavy is loaded."""

VOCABULARY = ("calm", "lively", "smiling")
