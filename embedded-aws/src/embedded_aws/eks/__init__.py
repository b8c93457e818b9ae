"""Amazon EKS: its API, without Kubernetes behind it."""
