"""`avatar bench runtime`: what the runtime costs, on networks of any size with random weights."""
