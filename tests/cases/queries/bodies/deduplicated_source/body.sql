SELECT id, seat FROM STREAM bookings
