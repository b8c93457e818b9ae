"""Ready-made jobs: benchmarks and checks of the nodes, with published settings."""

from trainshed.recipes.cluster import rehearsal_on, work_on
from trainshed.recipes.lookup import find_recipe, recipes, recipes_for
from trainshed.recipes.model import JobNodes, JobRecipe, Work

__all__ = [
    "JobNodes",
    "JobRecipe",
    "Work",
    "find_recipe",
    "recipes",
    "recipes_for",
    "rehearsal_on",
    "work_on",
]
