"""What of a cluster's cost depends on it."""

NOT_ON_SPOT = "nodes that are kept are not on Spot, where EC2 may take them back"
