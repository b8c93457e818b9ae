"""Why a program does not run in a container, in the words of runc."""


def runc_problem(program: str, error: OSError) -> str:
    """Return why a program cannot be run.

    Issues of its users: nextflow-io/nextflow 5657 (AWS Batch, a path that is not there),
    apocas/dockerode 654 (a name that is not in PATH), edp963/davinci-docker 23 (not executable).

    Args:
        program: first word of the command.
        error: of the system, with its number.
    """
    why = str(error.strerror).lower()
    if isinstance(error, FileNotFoundError):
        by_path = "/" in program
        why = f"stat {program}: {why}" if by_path else "executable file not found in $PATH"
    return (
        "OCI runtime create failed: runc create failed: unable to start container process: "
        f'exec: "{program}": {why}: unknown'
    )
