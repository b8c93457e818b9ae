"""Folders that the first boot of an AMI of ours makes on a node."""

# Where it mounts the instance store, see trainshed_node.scratch; every user may write there.
SCRATCH = "/scratch"

# Where a job marks its node unfit, see trainshed_node.unfit, and the mark.
UNFIT = "/run/trainshed/unfit"
UNFIT_MARK = f"{UNFIT}/mark"

# Where a node on Spot writes EC2's notices, see trainshed_node.spot, and the file.
SPOT = "/run/trainshed/spot"
SPOT_NOTICE = f"{SPOT}/notice"
