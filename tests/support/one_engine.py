"""The engine that compares templates, in one process of Node for many comparisons.

Each process of its own takes a CPU second to load what AWS's resource types are.
"""

import json
import subprocess
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

# Runs the program anew for each line, with the line as its standard input. Modules stay loaded.
_LOOP = """
const fs = require('node:fs');
const { exit, stdout, stderr } = process;
const { readFileSync } = fs;
const say = stdout.write.bind(stdout);
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { program, input } = JSON.parse(line);
  const answer = { code: 0, out: '', err: '' };
  const ended = new Error('ended');
  fs.readFileSync = (file, ...rest) => (file === 0 ? input : readFileSync(file, ...rest));
  stdout.write = (text) => { answer.out += text; };
  stderr.write = (text) => { answer.err += text; };
  process.exit = (code) => { answer.code = code; throw ended; };
  try {
    require(program);
  } catch (error) {
    if (error !== ended) Object.assign(answer, { code: 1, err: String(error.stack) });
  }
  delete require.cache[program];
  say(JSON.stringify(answer) + '\\n');
});
"""


class OneEngine:
    """Stands in for `subprocess` in `trainshed.review.engine`."""

    def __init__(self) -> None:
        self._processes: dict[str, subprocess.Popen[str]] = {}

    def run(
        self, command: Sequence[str], *, input: str, **_: Any
    ) -> subprocess.CompletedProcess[str]:
        node, program = command
        if node not in self._processes:
            self._processes[node] = subprocess.Popen(
                [node, "-e", _LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        process = self._processes[node]
        assert process.stdin and process.stdout
        process.stdin.write(json.dumps({"program": program, "input": input}) + "\n")
        process.stdin.flush()
        answer = SimpleNamespace(**json.loads(process.stdout.readline()))
        return subprocess.CompletedProcess(command, answer.code, answer.out, answer.err)

    def stop(self) -> None:
        """End its processes."""
        for process in self._processes.values():
            process.communicate()
