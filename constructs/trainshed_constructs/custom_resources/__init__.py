"""Custom resources: each folder has the construct and the source of its Lambda function."""
