"""A guard against changes that separate a network from what is in it."""
