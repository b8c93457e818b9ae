"""What AMIs of ours are for: an accelerator and an orchestrator, together a cell."""

ACCELERATORS = ("habana", "neuron", "nvidia")
ORCHESTRATORS = ("ec2", "ecs", "eks")
