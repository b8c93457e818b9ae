"""IAM: roles, policies, permissions boundaries."""
