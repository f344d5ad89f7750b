import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.Encoder;
import org.apache.avro.io.EncoderFactory;

/**
 * Answers questions about Avro schemas with the Java reference library: one JSON object a line in, one out.
 *
 * <p>{"text": t, "references": [t…]} is answered with the validity, the canonical text and the
 * fingerprints of a schema; {"reader": t, "writer": t} with both of these answers and the incompatibilities;
 * {"reader": t, "writer": t, "value": v} with what a reader makes of a value, both in JSON encoding
 * (the second one in an array), and the data between; {"one": t, "other": t} with whether both are equal, and have equal
 * docs, aliases and defaults of enums, at which equals does not look.
 */
public class AvroOracle {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] arguments) throws Exception {
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      JsonNode question = JSON.readTree(line);
      out.println(JSON.writeValueAsString(
          question.has("value") ? decode(question)
              : question.has("reader") ? compare(question)
              : question.has("one") ? areSame(question) : describe(question)));
    }
  }

  private static ObjectNode describe(JsonNode question) {
    ObjectNode answer = JSON.createObjectNode();
    try {
      Schema.Parser parser = new Schema.Parser();
      List<Schema> known = new ArrayList<>();
      for (JsonNode reference : question.path("references")) {
        known.add(parser.parse(reference.textValue()));
      }
      describe(parser.parse(question.get("text").textValue()), known, answer);
    } catch (Exception | StackOverflowError wrong) {
      refuse(wrong, answer);
    }
    return answer;
  }

  private static void describe(Schema schema, List<Schema> known, ObjectNode answer) throws Exception {
    String form = SchemaNormalization.toParsingForm(schema);
    answer.put("valid", true);
    answer.put("canonical", known.isEmpty() ? schema.toString() : schema.toString(known, false));
    answer.put("resolved", schema.toString());
    answer.put("parsing", form);
    for (String name : new String[] {"CRC-64-AVRO", "MD5", "SHA-256"}) {
      byte[] digest = SchemaNormalization.fingerprint(name, form.getBytes(StandardCharsets.UTF_8));
      answer.put(name, hex(digest));
    }
    answer.put("PRAVEGA", hex(MessageDigest.getInstance("SHA-256").digest(schema.toString().getBytes(StandardCharsets.UTF_8))));
  }

  private static String hex(byte[] digest) {
    return String.format("%0" + 2 * digest.length + "x", new BigInteger(1, digest));
  }

  private static void refuse(Throwable wrong, ObjectNode answer) {
    answer.removeAll();
    answer.put("valid", false);
    answer.put("error", wrong.getClass().getSimpleName() + ": " + wrong.getMessage());
  }

  private static ObjectNode compare(JsonNode question) throws Exception {
    ObjectNode answer = JSON.createObjectNode();
    Schema reader = side(question, "reader", answer);
    Schema writer = side(question, "writer", answer);
    if (reader == null || writer == null) {
      return answer;
    }
    ArrayNode findings = JSON.createArrayNode();
    try {
      for (SchemaCompatibility.Incompatibility one :
          SchemaCompatibility.checkReaderWriterCompatibility(reader, writer).getResult().getIncompatibilities()) {
        findings.addObject().put("type", one.getType().name()).put("path", one.getLocation())
            .put("detail", one.getMessage());
      }
      answer.set("findings", findings);
    } catch (Exception wrong) {
      answer.put("error", String.valueOf(wrong.getMessage()));
    }
    return answer;
  }

  private static ObjectNode decode(JsonNode question) {
    ObjectNode answer = JSON.createObjectNode();
    try {
      Schema writer = new Schema.Parser().parse(question.get("writer").textValue());
      Schema reader = new Schema.Parser().parse(question.get("reader").textValue());
      Object value = new GenericDatumReader<>(writer)
          .read(null, DecoderFactory.get().jsonDecoder(writer, question.get("value").textValue()));
      ByteArrayOutputStream data = new ByteArrayOutputStream();
      write(writer, value, EncoderFactory.get().directBinaryEncoder(data, null));
      answer.put("data", HexFormat.of().formatHex(data.toByteArray()));
      BinaryDecoder source = DecoderFactory.get().binaryDecoder(data.toByteArray(), null);
      Object read = new GenericDatumReader<>(writer, reader).read(null, source);
      answer.put("whole", source.isEnd());
      ByteArrayOutputStream text = new ByteArrayOutputStream();
      Schema listed = Schema.createArray(reader); // alone, a record without fields would leave no trace
      write(listed, Collections.singletonList(read), EncoderFactory.get().jsonEncoder(listed, text));
      answer.put("read", text.toString(StandardCharsets.UTF_8));
    } catch (Exception | StackOverflowError wrong) {
      answer.put("error", wrong.getClass().getSimpleName() + ": " + wrong.getMessage());
    }
    return answer;
  }

  private static ObjectNode areSame(JsonNode question) {
    ObjectNode answer = JSON.createObjectNode();
    try {
      Schema one = new Schema.Parser().parse(question.get("one").textValue());
      Schema other = new Schema.Parser().parse(question.get("other").textValue());
      answer.put("same", one.equals(other) && haveSameWords(one, other, new HashSet<>()));
    } catch (Exception | StackOverflowError wrong) {
      refuse(wrong, answer);
    }
    return answer;
  }

  /** Compares what stands beside two equal schemas; records that were seen are taken to be the same. */
  private static boolean haveSameWords(Schema one, Schema other, Set<String> seen) {
    boolean same = true;
    switch (one.getType()) {
      case ARRAY:
        return haveSameWords(one.getElementType(), other.getElementType(), seen);
      case MAP:
        return haveSameWords(one.getValueType(), other.getValueType(), seen);
      case UNION:
        for (int at = 0; at < one.getTypes().size(); at++) {
          same &= haveSameWords(one.getTypes().get(at), other.getTypes().get(at), seen);
        }
        return same;
      case ENUM:
        return beside(one).equals(beside(other)) && Objects.equals(one.getEnumDefault(), other.getEnumDefault());
      case FIXED:
        return beside(one).equals(beside(other));
      case RECORD:
        if (!seen.add(one.getFullName())) {
          return true;
        }
        same = beside(one).equals(beside(other));
        for (int at = 0; at < one.getFields().size(); at++) {
          Schema.Field left = one.getFields().get(at);
          Schema.Field right = other.getFields().get(at);
          same &= left.aliases().equals(right.aliases()) && Objects.equals(left.doc(), right.doc())
              && haveSameWords(left.schema(), right.schema(), seen);
        }
        return same;
      default:
        return true;
    }
  }

  private static List<Object> beside(Schema named) {
    return Arrays.asList(named.getDoc(), named.getAliases());
  }

  private static void write(Schema schema, Object value, Encoder encoder) throws IOException {
    new GenericDatumWriter<>(schema).write(value, encoder);
    encoder.flush();
  }

  private static Schema side(JsonNode question, String name, ObjectNode answer) {
    ObjectNode described = answer.putObject(name);
    try {
      Schema schema = new Schema.Parser().parse(question.get(name).textValue());
      describe(schema, List.of(), described);
      return schema;
    } catch (Exception | StackOverflowError wrong) {
      refuse(wrong, described);
      return null;
    }
  }
}
