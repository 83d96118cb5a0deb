"""The command line: one file a command, joined by app.py."""
