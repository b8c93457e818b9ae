"""A CDK project of a user's own, as `trainshed init` writes it."""
