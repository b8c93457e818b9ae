"""CloudWatch's alarms."""
