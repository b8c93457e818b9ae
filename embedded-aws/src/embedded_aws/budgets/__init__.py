"""AWS Budgets."""
