"""Runs one invocation of a Python function, in a process of its own.

Arguments: the handler, and the file for the result. The invocation comes as one line of JSON on
standard input, which stays open; when it closes, the server is gone and so is this process.
"""

import importlib
import json
import logging
import os
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any


class Context:
    """The context object that AWS hands to a handler."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.function_name: str = facts["function_name"]
        self.function_version: str = facts["function_version"]
        self.invoked_function_arn: str = facts["invoked_function_arn"]
        self.memory_limit_in_mb: str = facts["memory_limit_in_mb"]
        self.aws_request_id: str = facts["aws_request_id"]
        self.log_group_name: str = facts["log_group_name"]
        self.log_stream_name: str = facts["log_stream_name"]
        self.identity = self.client_context = None
        self._deadline = time.monotonic() + facts["timeout_seconds"]

    def get_remaining_time_in_millis(self) -> int:
        """Return how long the handler may still run."""
        return max(0, int((self._deadline - time.monotonic()) * 1000))


def main() -> None:
    """Run the handler and write its result."""
    handler_name, result_path = sys.argv[1], Path(sys.argv[2])
    invocation = json.loads(sys.stdin.readline())
    # The handler's own standard input is empty, and no thread holds the lock of it.
    server = os.dup(0)
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)
    threading.Thread(target=_end_with_the_server, args=(server,), daemon=True).start()
    sys.path[0] = str(Path.cwd())
    # Lambda's /var/task is read-only: no __pycache__ comes into being there.
    sys.dont_write_bytecode = True
    logging.basicConfig(
        stream=sys.stdout, format="[%(levelname)s]\t%(asctime)s\t%(name)s\t%(message)s"
    )
    try:
        module_name, _, function_name = handler_name.rpartition(".")
        module = importlib.import_module(module_name.replace("/", "."))
        handler = getattr(module, function_name)
        timeout = invocation["context"]["timeout_seconds"]
        timer = threading.Timer(timeout, _time_out, [result_path])
        timer.daemon = True
        timer.start()
        answer = {"result": handler(invocation["event"], Context(invocation["context"]))}
        text = json.dumps(answer)
    except BaseException as problem:  # whatever the function raises is its answer
        traceback.print_exc()
        text = json.dumps(
            {
                "error": {
                    "errorMessage": str(problem),
                    "errorType": type(problem).__name__,
                    "stackTrace": traceback.format_tb(problem.__traceback__),
                }
            }
        )
    result_path.write_text(text, encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)


def _end_with_the_server(server: int) -> None:
    while os.read(server, 1):
        pass
    os._exit(1)


def _time_out(result_path: Path) -> None:
    result_path.write_text(json.dumps({"timed_out": True}), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
