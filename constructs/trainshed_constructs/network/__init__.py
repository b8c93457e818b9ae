"""Networks: VPCs, existing ones, security groups for EFA."""
