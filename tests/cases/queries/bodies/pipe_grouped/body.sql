FROM flights |> AGGREGATE count(*) AS n GROUP BY carrier
