"""ECR: repositories and caches of public bases."""
