"""How good rendered videos are: `avatar evaluate` for one, `make quality` for people never trained on."""
