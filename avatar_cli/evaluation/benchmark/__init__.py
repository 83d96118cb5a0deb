"""`make bench`: measures the figures of docs/performance.md by running the command as a user does."""
