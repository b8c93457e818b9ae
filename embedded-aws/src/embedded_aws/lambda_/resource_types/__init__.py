"""CloudFormation's resource types of Lambda."""
