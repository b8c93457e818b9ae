"""CloudFormation's resource types of ECR."""
