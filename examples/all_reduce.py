"""Adds up the ranks of all processes, by MPI: a job to rehearse that needs no accelerator."""

import os
import socket

from mpi4py import MPI

world = MPI.COMM_WORLD
total = world.allreduce(world.rank)
# At once, so that the ranks' lines do not mix.
os.write(1, f"rank {world.rank} of {world.size} on {socket.gethostname()}: sum {total}\n".encode())
