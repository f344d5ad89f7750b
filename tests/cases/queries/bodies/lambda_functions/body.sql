SELECT id, transform(arr, one -> one.x + 1) AS xs, aggregate(arr, 0L, (sum, one) -> sum + one.x) AS total FROM STREAM flights
