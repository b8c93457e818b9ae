"""CloudWatch alarms."""
