"""The portrait family's streaming decoder: frames of a speaking person, warped from one photo."""
