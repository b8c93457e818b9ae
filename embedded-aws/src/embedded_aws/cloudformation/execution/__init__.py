"""Operations that bring stacks to their desired state."""
