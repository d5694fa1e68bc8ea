"""Scripts whose figures stand in the documents; each is run from the root of the project."""
