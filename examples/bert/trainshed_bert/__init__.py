"""Pre-training BERT with the published settings, on Gaudi, Trainium, GPUs and CPUs."""
