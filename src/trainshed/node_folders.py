"""Folders that the first boot of an AMI of ours makes on a node."""

# Where it mounts the instance store, see trainshed_node.scratch; every user may write there.
SCRATCH = "/scratch"
