"""The flights of the demo: real data, three versions of its schema, events with damage, the job and its proof."""
