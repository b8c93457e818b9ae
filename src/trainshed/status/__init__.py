"""How a deployed cluster is now, and what is wrong with it."""
