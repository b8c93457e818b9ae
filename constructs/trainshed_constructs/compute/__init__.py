"""Nodes and what runs on them: AWS Batch, launch templates, roles, first boot."""
