"""Which costs of a cluster depend on AWS Batch."""

NOT_ON_SPOT = "AWS Batch runs no multi-node jobs on Spot"
