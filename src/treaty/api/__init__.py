"""HTTP: one folder for each dialect, what they share beside it. A route translates and never decides."""
