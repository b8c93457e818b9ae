"""CloudFormation's resource types of SNS."""
