"""Lake tables in three formats: appends that happen once, columns that come later, types that widen."""
