"""The command line: `embedded-aws`."""

import io
import sys

import typer

from embedded_aws.cli.output import print_error
from embedded_aws.errors import EmbeddedAwsError


def main() -> None:
    """Run the command line: exit 0 when all went well, 1 on a failure, 2 on wrong input."""
    from embedded_aws.cli.commands import app

    command = typer.main.get_command(app)
    try:
        code = command.main(
            sys.argv[1:] or ["--help"], prog_name="embedded-aws", standalone_mode=False
        )
    except EmbeddedAwsError as error:
        print_error(str(error))
        sys.exit(error.exit_code)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        hint = f"; see {context.command_path} --help" if context else ""
        message = error.format_message().rstrip(".?")
        print_error(f"{message[:1].lower()}{message[1:]}{hint}")
        sys.exit(error.exit_code)
    except OSError as error:
        print_error(f"{error.filename or 'output'}: {error.strerror}")
        # The flush at exit would fail again, with a traceback.
        sys.stdout = io.StringIO()
        sys.exit(1)
    except typer.Abort:
        sys.exit(1)
    sys.exit(code)
