"""The only truth: one ordered list of appends, on several backends behind one Protocol."""
