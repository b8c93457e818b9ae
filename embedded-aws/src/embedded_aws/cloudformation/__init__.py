"""A strict CloudFormation: schema checks, events, rollback, replacement, retention, exports."""
