"""Templates: how they are read, checked and evaluated."""
