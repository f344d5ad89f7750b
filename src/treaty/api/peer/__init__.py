"""The inner door: commands that other nodes of the registry hand over, and nobody else."""
