"""`python -m avatar_cli` is `avatar`."""

from avatar_cli.cli.app import main

if __name__ == "__main__":
    main()
