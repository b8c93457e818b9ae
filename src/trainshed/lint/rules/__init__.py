"""The rules over files that are not ours, one module for each subject."""
