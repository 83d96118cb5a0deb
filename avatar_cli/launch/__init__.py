"""The parent side: starts the launcher, hands over the job, follows its events to the end. Imports no torch."""
