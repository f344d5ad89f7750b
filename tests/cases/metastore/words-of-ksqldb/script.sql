CREATE STREAM pageviews (viewtime BIGINT, userid VARCHAR KEY, pageid VARCHAR) WITH (kafka_topic='pageviews', value_format='json', partitions=4)
CREATE TABLE users (id BIGINT PRIMARY KEY, registertime BIGINT, gender VARCHAR) WITH (KAFKA_TOPIC = 'users', VALUE_FORMAT = 'JSON_SR')
CREATE STREAM IF NOT EXISTS pageviews (a INT) WITH (kafka_topic='x', value_format='json')
CREATE TABLE keyed (id BIGINT, v INT) WITH (KAFKA_TOPIC = 'keyed', VALUE_FORMAT = 'JSON', KEY = 'id')
CREATE TABLE keyed (id BIGINT PRIMARY KEY, v INT) WITH (KAFKA_TOPIC = 'keyed', VALUE_FORMAT = 'JSON')
CREATE STREAM raw (a INT, b STRING) WITH (kafka_topic='raw', value_format='delimited')
CREATE STREAM raw (a INT, b STRING) WITH (kafka_topic='raw', value_format='json')
CREATE STREAM m (id INT PRIMARY KEY) WITH (TOPIC='m', VALUE_FORMAT='AVRO')
CREATE STREAM m (id INT KEY, v INT) WITH (TOPIC='m', VALUE_FORMAT='AVRO')
CREATE STREAM both (v INT) WITH (TOPIC = 'both', FORMAT = 'AVRO')
CREATE STREAM both (v INT) WITH (TOPIC = 'both', VALUE_FORMAT = 'AVRO')
CREATE TABLE hourly AS SELECT userid, COUNT(*) AS n FROM pageviews WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY userid EMIT CHANGES
CREATE STREAM rekeyed AS SELECT * FROM pageviews PARTITION BY userid
CREATE SOURCE TABLE users2 (id BIGINT PRIMARY KEY, v INT) WITH (KAFKA_TOPIC = 'users2', VALUE_FORMAT = 'JSON')
CREATE TABLE users2 (id BIGINT PRIMARY KEY, v INT) WITH (KAFKA_TOPIC = 'users2', VALUE_FORMAT = 'JSON')
CREATE SOURCE CONNECTOR c WITH ('connector.class' = 'x')
INSERT INTO pageviews SELECT * FROM other
TERMINATE CTAS_HOURLY_0
PAUSE ALL
SHOW CONNECTORS
SHOW VARIABLES
DESCRIBE FUNCTION abs
DESCRIBE pageviews EXTENDED
DESCRIBE TABLE EXTENDED users
LIST STREAMS
SELECT * FROM pageviews EMIT CHANGES
SELECT name, place FROM treaty.sources WHERE kind = 'TABLE' ORDER BY name
SET 'auto.offset.reset' = 'earliest'
SET 'ksql.streams.num.stream.threads' = '4'
RUN SCRIPT '/tmp/x.sql'
DEFINE topic = 'defined'; CREATE STREAM ${topic} (a INT) WITH (KAFKA_TOPIC = '${topic}', VALUE_FORMAT = 'AVRO')
DROP STREAM IF EXISTS defined DELETE TOPIC
CREATE TYPE address AS STRUCT<street VARCHAR, zip INTEGER>
DROP TYPE IF EXISTS address
CREATE SINK CONNECTOR c WITH ('connector.class' = 'x')
DROP CONNECTOR c
ASSERT VALUES pageviews (viewtime) VALUES (1)
ASSERT STREAM pageviews (viewtime BIGINT)
CREATE STREAM a AS SELECT userid FROM pageviews EMIT CHANGES LIMIT 3
