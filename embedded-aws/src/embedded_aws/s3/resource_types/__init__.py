"""CloudFormation's resource types of S3."""
