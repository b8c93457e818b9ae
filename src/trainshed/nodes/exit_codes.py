"""Exit codes of a job's containers, which decide what AWS Batch does next."""

# The main node's container ends with this code when a node of its job was lost or lacks a device.
# AWS Batch then tries the job again; every other code of a container ends it. Nothing else uses 193
# to 199: shells and Docker take 125 to 127, signals 128 to 192, sysexits 64 to 78, systemd 200 to
# 243, Open MPI and ssh 255; Python, torchrun and mpirun give 1, or the code of a process of theirs
# that failed.
PEER_LOST = 197
