"""What an account has: stacks, quotas, reservations, and the tags that say what is whose."""
