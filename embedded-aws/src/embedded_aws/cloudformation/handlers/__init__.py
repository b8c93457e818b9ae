"""Shared by the resource types of all services."""
