import cats.effect.{Clock, IO}
import com.snowplowanalytics.iglu.client.{Client, ClientError}
import com.snowplowanalytics.iglu.client.validator.ValidatorError
import com.snowplowanalytics.iglu.core.{SchemaKey, SelfDescribingData}
import com.snowplowanalytics.iglu.core.circe.implicits._
import io.circe.Json
import io.circe.parser.parse

/** Asks Snowplow's own client what each line of a file says, and prints one line with each answer. */
object IgluClientProbe {
  implicit val clock: Clock[IO] = Clock.create[IO]

  def fail(what: Any): Nothing = throw new IllegalArgumentException(what.toString)
  def read(text: String): Json = parse(text).fold(fail, identity)
  def key(uri: String): SchemaKey = SchemaKey.fromUri(uri).fold(fail, identity)

  def told(error: ClientError): String = error match {
    case resolution: ClientError.ResolutionError =>
      val said = resolution.value.map { case (name, history) => name + "=" + history.errors.mkString("+") + "*" + history.attempts }
      "unresolved " + said.mkString(", ")
    case ClientError.ValidationError(ValidatorError.InvalidData(messages)) =>
      "invalid " + messages.toList.map(one => one.path.getOrElse("") + " " + one.keyword.getOrElse("")).sorted.mkString(", ")
    case other => "refused " + other.getMessage
  }

  def ask(client: Client[IO, Json], verb: String, text: String): String = verb match {
    case "lookup" => client.resolver.lookupSchema(key(text)).unsafeRunSync().fold(told, _.noSpacesSortKeys)
    case "list" =>
      val last = key(text)
      client.resolver.listSchemas(last.vendor, last.name, last.version.model).unsafeRunSync()
        .fold(told, _.schemas.map(_.toSchemaUri).mkString(" "))
    case "check" =>
      val data = SelfDescribingData.parse(read(text)).fold(fail, identity)
      client.check(data).value.unsafeRunSync().fold(told, _ => "valid")
  }

  def main(args: Array[String]): Unit = {
    var client: Option[Client[IO, Json]] = None
    for (line <- scala.io.Source.fromFile(args(0), "UTF-8").getLines()) {
      val Array(verb, text) = line.split(" ", 2)
      if (verb == "config") client = Some(Client.parseDefault[IO](read(text)).value.unsafeRunSync().fold(fail, identity))
      else println(ask(client.getOrElse(fail("no config")), verb, text))
    }
  }
}
