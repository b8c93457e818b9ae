"""CloudFormation's API."""
