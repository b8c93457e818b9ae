"""Systems Manager's Parameter Store."""
