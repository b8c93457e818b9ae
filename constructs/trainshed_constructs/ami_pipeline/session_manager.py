"""What an instance may do so that Session Manager reaches it."""

# AWS Systems Manager user guide, "Add Session Manager permissions to an existing IAM role". Not
# AmazonSSMManagedInstanceCore, which also reads every parameter of the account.
SESSION_ACTIONS = (
    "ssm:UpdateInstanceInformation",
    "ssmmessages:CreateControlChannel",
    "ssmmessages:CreateDataChannel",
    "ssmmessages:OpenControlChannel",
    "ssmmessages:OpenDataChannel",
)
