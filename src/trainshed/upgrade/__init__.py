"""What another version of trainshed would change in a project: templates and pins."""

from trainshed.upgrade.environment import OtherVersion, install
from trainshed.upgrade.steps import REQUIREMENTS, upgrade_steps
from trainshed.upgrade.synthesis import App, SynthesisedStack, read_app, synthesise
from trainshed.upgrade.template_changes import Effect, TemplateChange, template_changes

__all__ = [
    "REQUIREMENTS",
    "App",
    "Effect",
    "OtherVersion",
    "SynthesisedStack",
    "TemplateChange",
    "install",
    "read_app",
    "synthesise",
    "template_changes",
    "upgrade_steps",
]
