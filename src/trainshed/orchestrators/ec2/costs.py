"""Which costs of a cluster follow from nodes that are kept all the time."""

NOT_ON_SPOT = "nodes that are kept are not on Spot, where EC2 may take them back"
