"""Tags by which trainshed finds its own resources."""

# On what a cluster, or clusters that share it, have: their name, or that of what they share.
CLUSTER_TAG = "trainshed:cluster"
# CloudFormation's own: the stack that has a resource.
STACK_TAG = "aws:cloudformation:stack-name"
# The same of a node of Kubernetes, whose labels take no colon.
CLUSTER_LABEL = "trainshed/cluster"
# On a node: how it booted, as the AMI's first-boot program says.
BOOT_TAG = "trainshed:boot"
# On a node of plain EC2 that is to take no more jobs.
DRAINED_TAG = "trainshed:drained"
