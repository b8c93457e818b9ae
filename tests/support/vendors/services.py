"""Stub daemons that systemd really starts."""

from vendors.package import File, program


def unit(
    description: str,
    command: str,
    *,
    after: str = "",
    requires: str = "",
    kind: str = "exec",
    wanted_by: str = "multi-user.target",
    more: str = "",
) -> File:
    """A service of systemd's."""
    lines = ["[Unit]", f"Description={description}"]
    lines += [f"After={after}"] if after else []
    lines += [f"Requires={requires}"] if requires else []
    lines += ["", "[Service]", f"Type={kind}", f"ExecStart={command}"]
    lines += [more] if more else []
    lines += ["", "[Install]", f"WantedBy={wanted_by}"] if wanted_by else []
    return File(text="\n".join(lines) + "\n")


def daemon(version_line: str, *, check: str = "") -> File:
    """A program that stays until it is stopped; `--version` prints a line.

    Args:
        version_line: what `--version` prints.
        check: shell commands that must succeed before it is up, as a daemon reads its
            configuration.
    """
    return program(
        "set -euo pipefail\n"
        f"case ${{1:-}} in --version|-v|version) echo '{version_line}'; exit 0;; esac\n"
        f"{check}\n"
        "exec sleep infinity\n"
    )
