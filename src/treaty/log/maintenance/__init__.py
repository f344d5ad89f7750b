"""What operators do to a log: look at it, check it, carry it elsewhere, mend it. Nodes need none of it."""
