"""A sentence, for a stack's outputs, about whether a container image is there to be pulled."""
