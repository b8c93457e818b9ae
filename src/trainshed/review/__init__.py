"""Review a change to a project: compare what its app synthesises before and after."""
