-- totals by customer
CREATE OR REPLACE TABLE totals (customer STRING PRIMARY KEY, amount DECIMAL(20, 2))
COMMENT 'by customer' WITH (FORMAT = 'JSON_SR', START_MODE = 'FROM_NOW', TRIGGER = '5 SECONDS')
AS -- a comment of the body
SELECT customer, sum(amount) AS amount
FROM STREAM orders WATERMARK ts DELAY OF INTERVAL 10 SECONDS AS o
GROUP BY customer -- a comment behind it
EMIT FINAL;
