"""Plans for Protobuf: one message reads what every version wrote, because the wire knows fields by number."""
