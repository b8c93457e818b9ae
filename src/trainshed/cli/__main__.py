"""The command line as a module, `python -m trainshed.cli`: for a checkout that is not installed."""

from trainshed.cli import main

main()
