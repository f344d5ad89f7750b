"""`decide`: one pure function that holds all the law."""
