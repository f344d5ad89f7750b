DEFINE env = 'test'; DEFINE topic = '${env}-orders';
CREATE STREAM ${env}_orders WITH (KAFKA_TOPIC = '${topic}') AS SELECT '${given}', '$${env}', '$$${env}' /* ${unknown} */ FROM STREAM ${env};
UNDEFINE env;
CREATE STREAM ${env} WITH (KAFKA_TOPIC = '${toopic}', PATH = '${');
CREATE STREAM a WITH (KAFKA_TOPIC = '${topic}', PARTITION = 3, ${word} = 'x');
DEFINE splits = 'a; DROP STREAM b'; CREATE STREAM ${splits};
DEFINE odd = '\0'; CREATE STREAM a WITH (PATH = '${odd}');
