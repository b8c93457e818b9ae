"""Which recipes there are."""

from trainshed.catalogue import InstanceType
from trainshed.errors import TrainshedError, UnknownName
from trainshed.recipes.collectives import COLLECTIVES
from trainshed.recipes.health import HEALTH
from trainshed.recipes.model import Recipe


def recipes() -> tuple[Recipe, ...]:
    """Return all recipes."""
    return (*COLLECTIVES, *HEALTH)


def recipes_for(instance: InstanceType) -> tuple[Recipe, ...]:
    """Return the recipes for an instance type."""
    return tuple(recipe for recipe in recipes() if not recipe.refusal(instance))


def find_recipe(name: str, instance: InstanceType) -> Recipe:
    """Return the recipe of a name for an instance type.

    Raises:
        TrainshedError: there is none of that name, or none for the type.
    """
    named = [recipe for recipe in recipes() if recipe.name == name]
    if not named:
        raise UnknownName("recipe", name, {recipe.name for recipe in recipes()})
    for recipe in named:
        if not recipe.refusal(instance):
            return recipe
    own = [recipe for recipe in named if recipe.family is instance.accelerator.family] or named
    reasons = "; ".join(recipe.refusal(instance) or "" for recipe in own)
    others = ", ".join(recipe.name for recipe in recipes_for(instance)) or "none"
    raise TrainshedError(
        f"the recipe {name} does not run on {instance.name}: {reasons} (recipes that do: {others})"
    )
