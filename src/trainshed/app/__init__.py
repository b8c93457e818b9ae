"""The app of a project: where its files are, and what it synthesises."""
