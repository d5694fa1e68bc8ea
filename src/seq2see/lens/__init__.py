"""See what a model attends to, and change it. Knows networks and ids; nothing of files or HTTP."""
