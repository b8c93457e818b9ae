"""What another version of trainshed would change in a project: templates and pins."""
