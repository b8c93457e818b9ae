"""Savings Plans."""
