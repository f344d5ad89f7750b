CREATE STREAM orders (
  id BIGINT KEY, -- the key
  amount decimal(10, 2) NOT NULL COMMENT 'it''s money',
  address STRUCT<street VARCHAR, `zip code`: STRING NOT NULL>,
  headers ARRAY<STRUCT<key: STRING, value: BYTES>> HEADERS,
  trace BINARY HEADER('trace-id')
) WITH (kafka_topic = 'Orders', value_format = 'avro', partitions = 3);
