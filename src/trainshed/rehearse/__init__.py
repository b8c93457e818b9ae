"""A job of a cluster on this machine: an embedded AWS has the cluster, and runs the job."""
