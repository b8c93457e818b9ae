"""How the benchmarks of collective operations are started, for whichever ready job."""

# nccom-test is for Trainium and Inferentia2: AWS Neuron documentation, "NCCOM-TEST User Guide".
WITHOUT_NCCOM_TEST = {"Inferentia": "nccom-test is not for the first Inferentia"}
# Where our container image has it; it starts ./hccl_demo, and writes a log beside it.
_HCCL_DEMO = "/opt/hccl_demo"


def shell(*lines: str) -> tuple[str, ...]:
    """Return a script that ends at the first line that fails.

    The log shows its lines: nccom-test itself does not say what it measures.
    """
    return ("sh", "-exc", "; ".join(lines))


def hccl_demo(meet: str, arguments: str) -> tuple[str, ...]:
    """Return hccl_demo's part on one node, as its README says without MPI.

    Args:
        meet: address and port of the node with the first rank.
        arguments: of run_hccl_demo.py.
    """
    return shell(
        f"cd {_HCCL_DEMO}",
        f"export HCCL_COMM_ID={meet}",
        # When a rank fails it ends itself by SIGTERM, and what it has not printed by then is lost.
        f"python3 -u run_hccl_demo.py {arguments}",
        # It makes a process group of its own, which the first process of a session may not; the
        # last command of a script would take the shell's place, and be that.
        "exit",
    )
