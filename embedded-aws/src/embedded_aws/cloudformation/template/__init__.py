"""Templates: reading, checking, evaluating."""
