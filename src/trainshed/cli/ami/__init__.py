"""`trainshed ami`: bake AMIs, test them, publish them to channels, remove old ones."""

import typer

from trainshed.cli.ami.amis import list_command, prune_command, test_command
from trainshed.cli.ami.build import build_command
from trainshed.cli.ami.channels import promote_command, publish_command, rollback_command
from trainshed.cli.ami.pins import pins_command, recipes_command

app = typer.Typer(add_completion=False)
app.command(name="build")(build_command)
app.command(name="list")(list_command)
app.command(name="test")(test_command)
app.command(name="publish")(publish_command)
app.command(name="promote")(promote_command)
app.command(name="rollback")(rollback_command)
app.command(name="prune")(prune_command)
app.command(name="pins")(pins_command)
app.command(name="recipes")(recipes_command)
