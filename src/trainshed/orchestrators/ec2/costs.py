"""What of the cost of a cluster depends on its nodes being there all the time."""

NOT_ON_SPOT = "nodes that are kept are not on Spot, where EC2 may take them back"
