"""An AMI that exists, and stays what it was when the stack first looked for it."""
