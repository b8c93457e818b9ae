"""AWS Batch: multi-node parallel jobs, in containers on nodes that it launches for them."""
