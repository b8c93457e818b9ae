"""CloudFormation's resource types of EventBridge."""
