"""CloudFormation's resource types of EC2."""
