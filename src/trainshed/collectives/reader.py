"""Reading the log of a collective benchmark."""

import re
from dataclasses import fields

from trainshed.collectives.hccl_demo import read_hccl_demo
from trainshed.collectives.lines import read_lines
from trainshed.collectives.model import BenchmarkRun, Tool
from trainshed.collectives.nccl_tests import read_nccl_tests, read_rows_of_nccl_tests
from trainshed.collectives.nccom_test import read_nccom_test
from trainshed.collectives.network import read_network
from trainshed.collectives.table import UnreadableLog

_READERS = (
    (Tool.NCCL_TESTS, read_nccl_tests),
    (Tool.NCCOM_TEST, read_nccom_test),
    (Tool.HCCL_DEMO, read_hccl_demo),
    # By its rows alone, when nothing says whose they are.
    (Tool.NCCL_TESTS, read_rows_of_nccl_tests),
)
_FAILURE = re.compile(
    # nccl-tests, hccl_demo, Open MPI, Slurm, and the shell.
    r"Test (?:NCCL|CUDA) failure|One of the hccl_\w+ processes failed"
    r"|non-zero exit code|exited on signal|srun: error:|Segmentation fault"
)


def read_benchmark(text: str, source: str) -> BenchmarkRun:
    """Read the log of hccl_demo, nccom-test or nccl-tests.

    Args:
        text: the log; lines of other programs, and prefixes of mpirun, srun and `aws logs tail`,
            do no harm.
        source: where it is from, for messages.

    Raises:
        UnreadableLog: it has no result, or one that cannot be read; the message quotes the line.
    """
    lines = list(read_lines(text))
    failures = tuple(line for line in lines if _FAILURE.search(line.text))
    for tool, read in _READERS:
        try:
            output = read(lines)
        except UnreadableLog as error:
            raise UnreadableLog(f"{source}: {error}") from None
        if output and output.measurements:
            return BenchmarkRun(
                **{field.name: getattr(output, field.name) for field in fields(output)},
                source=source,
                tool=tool,
                failures=failures,
                network=read_network(lines),
            )
    first = next((line for line in lines if line.text.strip()), None)
    quoted = failures[0] if failures else first
    raise UnreadableLog(
        f"{source}: no result of {', '.join(dict.fromkeys(tool for tool, _ in _READERS))} is in it"
        + (f"; {quoted}" if quoted else "; it is empty")
    )
