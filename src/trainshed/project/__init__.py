"""A CDK project of a user's own, as `trainshed init` writes it."""

from trainshed.project.choices import Choices, plan_choices
from trainshed.project.files import project_files
from trainshed.project.writing import ProjectExists, write_project

__all__ = ["Choices", "ProjectExists", "plan_choices", "project_files", "write_project"]
