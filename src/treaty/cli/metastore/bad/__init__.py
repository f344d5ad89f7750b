"""`treaty bad …`: the rows that could not be decoded, listed and decoded again."""
