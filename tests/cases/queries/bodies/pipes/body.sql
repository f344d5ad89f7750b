FROM STREAM flights |> WHERE delay > 15 |> EXTEND delay * 2 AS twice |> SELECT id, twice
