"""An alarm about nodes that compute nothing, which may let them go."""
