"""Nodes that somebody takes out of service: drained, rebooted, replaced."""
