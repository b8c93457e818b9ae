"""What of the cost of a cluster depends on AWS Batch."""

NOT_ON_SPOT = "AWS Batch runs no multi-node jobs on Spot"
