"""HTTP: a folder for each dialect, and the parts that they share. Routes translate; the registry decides."""
