"""EventBridge Scheduler."""
