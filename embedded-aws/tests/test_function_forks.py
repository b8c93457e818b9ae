"""Python functions of a server are forks of one process, and look like new interpreters."""

import io
import json
import os
import select
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from embedded_aws.embedded import EmbeddedAws
from embedded_aws.process import start
from embedded_aws.settings import ServerSettings

Invoke = Callable[..., Any]


@pytest.fixture
def invoke(embedded_aws: EmbeddedAws) -> Invoke:
    """Make a function of these files, and return what its first invocation answers."""
    return partial(first_answer, embedded_aws)


def first_answer(aws: EmbeddedAws, files: dict[str, str], **settings: Any) -> Any:
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    functions, name = aws.client("lambda"), f"f-{uuid4().hex[:8]}"
    role = aws.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument="{}")
    functions.create_function(
        FunctionName=name,
        Runtime="python3.12",
        Role=role["Role"]["Arn"],
        Handler="index.handler",
        Code={"ZipFile": package.getvalue()},
        **settings,
    )
    return json.loads(functions.invoke(FunctionName=name)["Payload"].read())


def test_a_function_has_its_own_directory_environment_and_time_zone(invoke: Invoke) -> None:
    code = (
        "import os, time\n"
        "def handler(event, context):\n"
        "    return [os.environ['MODE'], os.listdir(), time.tzname[0]]"
    )

    answer = invoke({"index.py": code}, Environment={"Variables": {"MODE": "mine"}})

    assert answer == ["mine", ["index.py"], "UTC"]


def test_a_library_of_the_function_comes_before_the_servers(invoke: Invoke) -> None:
    code = "import boto3\ndef handler(event, context):\n    return boto3.__version__"

    answer = invoke({"index.py": code, "boto3.py": "__version__ = 'mine'"})

    assert answer == "mine"


def test_a_function_that_ends_its_process_is_an_error_of_its_own(invoke: Invoke) -> None:
    ends = "import os\ndef handler(event, context):\n    os._exit(3)"
    works = "def handler(event, context):\n    return 'well'"

    assert invoke({"index.py": ends})["errorType"] == "Runtime.ExitError"
    assert invoke({"index.py": works}) == "well"


def test_functions_run_after_the_process_that_forks_them_was_killed(tmp_path: Path) -> None:
    kills = "import os\ndef handler(event, context):\n    os.kill(os.getppid(), 9)"
    works = "def handler(event, context):\n    return 'works'"

    server = start(ServerSettings(), log=tmp_path / "log")
    try:
        first_answer(EmbeddedAws(server), {"index.py": kills})
        answer = first_answer(EmbeddedAws(server), {"index.py": works})
    finally:
        server.stop()

    assert answer == "works"


def test_a_function_that_runs_for_too_long_is_ended(invoke: Invoke) -> None:
    code = "import threading\ndef handler(event, context):\n    threading.Event().wait()"

    assert (
        "Task timed out after 1.00 seconds" in invoke({"index.py": code}, Timeout=1)["errorMessage"]
    )


@pytest.mark.parametrize("brings", ["nothing", "boto3.py"], ids=["fork", "interpreter"])
def test_what_a_function_starts_ends_with_it(invoke: Invoke, brings: str) -> None:
    code = (
        "import os, signal\n"
        "def handler(event, context):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        signal.pause()\n"
        "    return child"
    )

    child = invoke({"index.py": code, brings: ""}, Timeout=30)

    with suppress(ProcessLookupError):  # It is gone already.
        assert select.select([os.pidfd_open(child)], [], [], 60)[0]


@pytest.mark.parametrize("brings", ["nothing", "boto3.py"], ids=["fork", "interpreter"])
def test_a_function_works_in_parallel_processes(invoke: Invoke, brings: str) -> None:
    code = (
        "from multiprocessing import get_context\n"
        "def handler(event, context):\n"
        "    processes = get_context('fork')\n"
        "    ours, theirs = processes.Pipe()\n"
        "    child = processes.Process(target=theirs.send, args=('from a child',))\n"
        "    child.start()\n"
        "    answer = ours.recv()\n"
        "    child.join()\n"
        "    return answer"
    )

    assert invoke({"index.py": code, brings: ""}, Timeout=30) == "from a child"


def test_a_library_in_a_folder_of_the_function_comes_before_the_servers(invoke: Invoke) -> None:
    code = (
        "import sys\n"
        "sys.path.insert(0, 'vendor')\n"
        "import boto3\n"
        "def handler(event, context):\n"
        "    return boto3.__version__"
    )

    answer = invoke({"index.py": code, "vendor/boto3/__init__.py": "__version__ = 'mine'"})

    assert answer == "mine"
