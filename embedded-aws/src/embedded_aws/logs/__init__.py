"""CloudWatch Logs."""
