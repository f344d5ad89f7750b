"""The log: one ordered list of appends, the source of all state, on several backends behind one Protocol."""
