"""What trainshed, or a run of it that failed, left in an account and nothing owns any more."""
