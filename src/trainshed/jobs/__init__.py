"""Jobs of a cluster: submitted, found, watched, ended, explained."""
