"""Models in the layouts of other tools: into run directories, and out of them."""
