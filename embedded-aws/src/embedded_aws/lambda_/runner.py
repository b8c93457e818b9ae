"""Run a Lambda function's code in a process of its own, without Docker.

Lambda developer guide: the environment variables, the context, "Task timed out after N.NN seconds",
FunctionError `Unhandled`, errorMessage and errorType, START, END and REPORT lines in the log, 10
seconds for loading the code before the timeout starts to count. Python functions run in the
interpreter of the server (boto3 is importable), Node.js functions in the `node` of its environment
(`cfn-response` is there, and the AWS SDK where npm has installed it). Layers: later ones over
earlier ones, their `python/lib/python3.N/site-packages` of the function's runtime, `python` and
`nodejs/node_modules` importable, their `bin` on the PATH; they are at /opt there, in a folder of
the invocation here.
"""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from embedded_aws.lambda_ import forks
from embedded_aws.lambda_.forks import Fork
from embedded_aws.lambda_.sdk import offer_sdk

_RUNTIMES = Path(__file__).parent / "runtimes"
_INIT_SECONDS = 10
_INHERITED = ("HOME", "LANG", "LC_ALL", "PATH", "SYSTEMROOT", "TMPDIR")


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One call of a function.

    Attributes:
        code: the deployment package, a ZIP file.
        layers: ZIP files of the layers, in the function's order.
        runtime: `python3.N` or `nodejsN.x`.
        handler: for instance `index.handler`.
        timeout_seconds: how long the handler may run.
        event: the handler's event, any JSON value.
        context: the fields of the handler's context.
        environment: AWS's variables and the function's own.
    """

    code: bytes
    layers: tuple[bytes, ...]
    runtime: str
    handler: str
    timeout_seconds: float
    event: Any
    context: Mapping[str, Any]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of an invocation.

    Attributes:
        payload: JSON text: the handler's result, or the error.
        failed: the handler raised, timed out or did not load.
        log: its output, with AWS's own lines.
    """

    payload: str
    failed: bool
    log: str


def run(invocation: Invocation) -> Outcome:
    """Run one invocation and wait for its end."""
    request_id = str(uuid.uuid4())
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="embedded-aws-lambda-") as folder:
        task, result, output = (Path(folder) / name for name in ("task", "result", "output"))
        _unpack(invocation.code, task)
        for layer in invocation.layers:
            _unpack(layer, Path(folder) / "opt")
        offer_sdk(Path(folder), Path.cwd())
        ended = _execute(invocation, request_id, task, result, output)
        printed = output.read_text(encoding="utf-8", errors="replace")
        answer = json.loads(result.read_text(encoding="utf-8")) if result.exists() else {}
    duration = (time.monotonic() - started) * 1000
    report = (
        f"REPORT RequestId: {request_id}\tDuration: {duration:.2f} ms\t"
        f"Billed Duration: {int(duration) + 1} ms\t"
        f"Memory Size: {invocation.context['memory_limit_in_mb']} MB"
    )
    if answer.get("timed_out") or not ended:
        message = f"Task timed out after {invocation.timeout_seconds:.2f} seconds"
        answer = {"error": {"errorMessage": f"{request_id} {message}"}}
        printed += f"{request_id} {message}\n"
    elif not answer:
        answer = {
            "error": {
                "errorMessage": f"RequestId: {request_id} Error: Runtime exited without a reason",
                "errorType": "Runtime.ExitError",
            }
        }
    failed = "error" in answer
    return Outcome(
        payload=json.dumps(answer["error"] if failed else answer["result"]),
        failed=failed,
        log=f"START RequestId: {request_id}\n{printed}END RequestId: {request_id}\n{report}\n",
    )


def _unpack(package: bytes, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        for entry in archive.infolist():
            extracted = Path(archive.extract(entry, folder))
            # Restore Unix modes, without which a layer's programs are not executable.
            if (mode := entry.external_attr >> 16 & 0o777) and extracted.is_file():
                extracted.chmod(mode | 0o600)


def _execute(
    invocation: Invocation, request_id: str, task: Path, result: Path, output: Path
) -> bool:
    """Run the process; return whether it ended by itself."""
    facts = {
        **invocation.context,
        "aws_request_id": request_id,
        "timeout_seconds": invocation.timeout_seconds,
    }
    line = json.dumps({"event": invocation.event, "context": facts}) + "\n"
    with output.open("wb") as log, _started(invocation, task, result, log) as process:
        assert process.stdin is not None
        try:
            # Standard input stays open: the process ends when we close it.
            process.stdin.write(line.encode())
            process.stdin.flush()
            process.wait(_INIT_SECONDS + invocation.timeout_seconds)
        except BrokenPipeError:
            process.wait()
        except subprocess.TimeoutExpired:
            return False
        finally:
            # With what it started, as Lambda ends an environment.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    return True


def _started(
    invocation: Invocation, task: Path, result: Path, log: IO[bytes]
) -> subprocess.Popen[bytes] | Fork:
    arguments = [invocation.handler, str(result)]
    environment = _environment(invocation, task)
    if invocation.runtime.startswith("python") and forks.available():
        with suppress(ConnectionError):
            return Fork(arguments, cwd=task, env=environment, stdout=log)
    return subprocess.Popen(
        [*_command(invocation.runtime), *arguments],
        cwd=task,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _command(runtime: str) -> list[str]:
    if runtime.startswith("python"):
        return [sys.executable, str(_RUNTIMES / "python_bootstrap.py")]
    return [node(), str(_RUNTIMES / "node_bootstrap.mjs")]


def node() -> str:
    """Return the path of `node`, preferring the server's own environment.

    Raises:
        FileNotFoundError: there is none.
    """
    beside = str(Path(sys.executable).parent)
    found = shutil.which("node", path=os.pathsep.join([beside, os.environ.get("PATH", "")]))
    if found is None:
        raise FileNotFoundError("node is not installed; nodejs functions need it")
    return found


def _environment(invocation: Invocation, task: Path) -> dict[str, str]:
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    layers = task.parent / "opt"
    return {
        **inherited,
        "PATH": _joined(layers / "bin", _RUNTIMES / "bin", inherited.get("PATH", os.defpath)),
        "NODE_PATH": _joined(layers / "nodejs" / "node_modules", _RUNTIMES / "node"),
        "PYTHONPATH": _joined(
            layers / "python" / "lib" / invocation.runtime / "site-packages", layers / "python"
        ),
        "PYTHONUNBUFFERED": "1",
        "LAMBDA_TASK_ROOT": str(task),
        **invocation.environment,
    }


def _joined(*folders: Path | str) -> str:
    return os.pathsep.join(map(str, folders))
