"""The established comparison: two schemas are walked side by side, and every difference is reported."""
