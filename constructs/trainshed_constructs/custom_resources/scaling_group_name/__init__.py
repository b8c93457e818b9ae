"""The name of the Auto Scaling group that EKS makes for a managed node group."""
