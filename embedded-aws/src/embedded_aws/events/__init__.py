"""EventBridge."""
