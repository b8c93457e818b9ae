"""Orchestrator eks: jobs are JobSets of a cluster of Amazon EKS."""
