"""CDK constructs for accelerator training clusters, each usable alone in anyone's app."""
