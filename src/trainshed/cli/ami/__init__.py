"""`trainshed ami`: bake machine images, test them, publish them to channels, remove old ones."""

import typer

from trainshed.cli.ami import build, channels, images, pins

app = typer.Typer(add_completion=False)
app.command(name="build")(build.build_command)
app.command(name="list")(images.list_command)
app.command(name="test")(images.test_command)
app.command(name="publish")(channels.publish_command)
app.command(name="promote")(channels.promote_command)
app.command(name="rollback")(channels.rollback_command)
app.command(name="prune")(images.prune_command)
app.command(name="pins")(pins.pins_command)
