"""Starting one command on all nodes of a job, whichever orchestrator started the nodes."""
