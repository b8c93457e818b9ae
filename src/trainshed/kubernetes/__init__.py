"""Kubernetes on Amazon EKS: who asks an API server, what its nodes have, what is applied to it."""
