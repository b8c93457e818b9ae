"""The rules, a module for each topic; every module here is loaded."""
