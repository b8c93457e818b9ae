"""The rules of a VPC's default security group, which multi-node tasks of AWS Batch land in."""
