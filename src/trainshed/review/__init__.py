"""The story of a change to a project, from what its app synthesises before and after."""
