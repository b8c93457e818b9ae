"""A guard against taking a network away from what is in it."""
