FROM flights |> AS f |> JOIN carriers AS c ON f.carrier = c.code |> SELECT f.id, c.nm
