"""Variables of jobs that say where they are."""

BUCKET = "TRAINSHED_BUCKET"
"""Name of the cluster's own S3 bucket, where it has one."""
