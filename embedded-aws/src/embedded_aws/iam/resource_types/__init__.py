"""CloudFormation's resource types of IAM."""
