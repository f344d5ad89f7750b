"""Several record types in one stream: a column per type, all of their columns side by side, or a variant."""
