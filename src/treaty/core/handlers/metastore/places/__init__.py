"""Where sources stand: topics and folders, what writes there, and topics that go."""
