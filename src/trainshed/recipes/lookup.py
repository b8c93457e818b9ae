"""Which recipes there are."""

from trainshed.catalogue import InstanceType
from trainshed.errors import TrainshedError, UnknownName
from trainshed.recipes.bert import BERT
from trainshed.recipes.collectives import COLLECTIVES
from trainshed.recipes.health import HEALTH
from trainshed.recipes.model import JobRecipe


def recipes() -> tuple[JobRecipe, ...]:
    """Return all recipes."""
    return (*COLLECTIVES, *HEALTH, *BERT)


def recipes_for(instance: InstanceType) -> tuple[JobRecipe, ...]:
    """Return the recipes for an instance type."""
    return tuple(recipe for recipe in recipes() if recipe.fits(instance))


def find_recipe(name: str, instance: InstanceType) -> JobRecipe:
    """Return the recipe of a name for an instance type.

    Raises:
        TrainshedError: there is none of that name, or none for the type.
    """
    named = [recipe for recipe in recipes() if recipe.name == name]
    if not named:
        raise UnknownName("recipe", name, {recipe.name for recipe in recipes()})
    for recipe in named:
        if recipe.fits(instance):
            return recipe
    accelerator = instance.accelerator
    families = ", ".join(recipe.family for recipe in named)
    reasons = [
        recipe.without[accelerator.name] for recipe in named if accelerator.name in recipe.without
    ]
    reason = "; ".join(reasons) or f"it is for {families}, and the type has {accelerator.name}"
    others = ", ".join(recipe.name for recipe in recipes_for(instance)) or "none"
    raise TrainshedError(
        f"the recipe {name} does not run on {instance.name}: {reason} (recipes that do: {others})"
    )
