"""ECR: repositories, the registry, pull-through caches."""
