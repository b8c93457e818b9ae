"""The name of a repository that is yet to be made."""
