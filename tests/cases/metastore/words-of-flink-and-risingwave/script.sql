CREATE TABLE orders (id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'localhost:9092', 'value.format' = 'avro-confluent')
CREATE STREAM orders (id BIGINT, ts TIMESTAMP) WITH ('connector' = 'kafka', 'topic' = 'orders', 'value.format' = 'avro-confluent', 'watermark' = 'ts DELAY OF INTERVAL 5 SECONDS')
CREATE TABLE latest (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 'latest', 'value.format' = 'avro')
CREATE TABLE latest (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'kafka', 'topic' = 'latest', 'value.format' = 'avro')
CREATE TABLE p (id BIGINT PRIMARY KEY, at AS PROCTIME()) WITH ('topic' = 'p', 'value.format' = 'json')
CREATE STREAM q (id BIGINT, ts TIMESTAMP METADATA FROM 'timestamp') WITH ('topic' = 'q', 'value.format' = 'json')
CREATE STREAM q (id BIGINT, at ROW) WITH ('topic' = 'q', 'value.format' = 'json', 'scan.startup.mode' = 'earliest-offset')
CREATE STREAM q (id BIGINT, at ROW) WITH ('topic' = 'q', 'value.format' = 'json')
CREATE STREAM q (id BIGINT) WITH ('topic' = 'q', 'value.format' = 'csv')
CREATE OR ALTER STREAM q (id BIGINT) WITH ('topic' = 'q', 'value.format' = 'json')
CREATE TEMPORARY TABLE t (id INT) WITH ('topic' = 't', 'value.format' = 'json')
CREATE CATALOG c WITH ('type' = 'x')
EXECUTE STATEMENT SET
SHOW JOBS
STOP JOB 'x'
CREATE SOURCE src (id INT, name VARCHAR) WITH (connector = 'kafka', topic = 'src', properties.bootstrap.server = 'b:9092') FORMAT PLAIN ENCODE AVRO
CREATE STREAM src (id INT, name VARCHAR) WITH (connector = 'kafka', topic = 'src', value_format = 'avro')
CREATE SINK snk FROM src WITH (connector = 'kafka', topic = 'snk')
CREATE CONNECTION k WITH (type = 'kafka')
CREATE STREAM u (id UUID, n JSONB) WITH (TOPIC = 'u', VALUE_FORMAT = 'AVRO')
CREATE STREAM u (id STRING, n STRING) WITH (TOPIC = 'u', VALUE_FORMAT = 'AVRO')
CREATE INDEX i ON src (id)
SHOW SOURCES
SHOW MATERIALIZED VIEWS
SHOW SINKS
DROP SOURCE src
DROP SINK snk
DROP STREAM src
ALTER SYSTEM SET x = 1
CREATE STREAM r (id BIGINT, at ROW<x INT, y STRING>) WITH ('topic' = 'r', 'value.format' = 'json')
CREATE STREAM r (id BIGINT, at ARRAY<MULTISET<INT>>) WITH ('topic' = 'r', 'value.format' = 'json')
