"""What the processes of one job say to each other. Standard library only; every layer may import it."""
