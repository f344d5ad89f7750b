FROM flights SELECT id, carrier
