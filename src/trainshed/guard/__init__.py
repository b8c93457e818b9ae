"""When a cluster's own schedules stop its nodes, as its file and the outputs of its stack say."""
