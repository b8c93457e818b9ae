"""Secrets Manager."""
