"""Adds up the ranks of all processes, by PyTorch with gloo: a job that needs no accelerator."""

import os
import socket

import torch
from torch import distributed

# Where nodes of the embedded AWS share loopback, gloo must not take another interface.
if "EMBEDDED_AWS_ADDRESS" in os.environ:
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
distributed.init_process_group("gloo")
rank, size = distributed.get_rank(), distributed.get_world_size()
total = torch.tensor([rank])
distributed.all_reduce(total)
# At once, so that the ranks' lines do not mix.
os.write(1, f"rank {rank} of {size} on {socket.gethostname()}: sum {total.item()}\n".encode())
distributed.destroy_process_group()
