"""Variables of jobs that trainshed's programs set or read."""

from collections.abc import Mapping

BUCKET = "TRAINSHED_BUCKET"
"""Name of the cluster's own S3 bucket, where it has one."""

_SET = "trainshed-launch sets it for every command"
_MPI = "trainshed-launch sets it to start mpirun's daemons on the other nodes"
_NODES = "trainshed-launch finds the nodes of a job by it"

LAUNCHER_SETS: Mapping[str, str] = {
    "MASTER_ADDR": _SET,
    "MASTER_PORT": _SET,
    "NNODES": _SET,
    "NODE_RANK": _SET,
    "TRAINSHED_ADDRESSES": _SET,
    "HYDRA_LAUNCHER": _MPI,
    "HYDRA_LAUNCHER_EXEC": _MPI,
    "OMPI_MCA_plm_rsh_agent": _MPI,
    "OMPI_MCA_plm_rsh_no_tree_spawn": _MPI,
    "PRTE_MCA_plm_ssh_agent": _MPI,
    "PRTE_MCA_plm_ssh_no_tree_spawn": _MPI,
}
"""What the launcher sets for the commands that it runs, and why."""

OWN: Mapping[str, str] = {
    "TRAINSHED_ACCELERATOR": "a container image says by it which accelerators it is for",
    "TRAINSHED_ATTEMPT": _NODES,
    "TRAINSHED_DEADLINE": "trainshed-launch sets it to the file that has the deadline once EC2 "
    "takes a node back",
    "TRAINSHED_FILES": "it is for the files of --send PATH",
    "TRAINSHED_JOB": _NODES,
    "TRAINSHED_NODES": _NODES,
    "TRAINSHED_PROBLEM": "the entrypoint of a container image says by it what its node lacks",
}
"""What no job is given by its user, and why."""
