"""Measuring rendered videos and the command that makes them. Nothing of the product imports this."""
