"""Plans for JSON: every version's rows are read into the columns of one of them, or of all."""
