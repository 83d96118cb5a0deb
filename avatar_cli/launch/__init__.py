"""The parent side: starts the launcher, hands over the job, follows its events. Imports no torch."""
