package exchange;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ImmutableMap;
import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Duration;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.GeneratedMessageV3;
import com.google.protobuf.Message;
import com.google.protobuf.Timestamp;
import com.google.protobuf.util.JsonFormat;
import io.pravega.client.stream.Serializer;
import io.pravega.schemaregistry.client.SchemaRegistryClient;
import io.pravega.schemaregistry.client.SchemaRegistryClientConfig;
import io.pravega.schemaregistry.client.SchemaRegistryClientFactory;
import io.pravega.schemaregistry.common.Either;
import io.pravega.schemaregistry.contract.data.CodecType;
import io.pravega.schemaregistry.contract.data.Compatibility;
import io.pravega.schemaregistry.contract.data.SchemaInfo;
import io.pravega.schemaregistry.contract.data.SerializationFormat;
import io.pravega.schemaregistry.serializer.avro.schemas.AvroSchema;
import io.pravega.schemaregistry.serializer.json.schemas.JSONSchema;
import io.pravega.schemaregistry.serializer.protobuf.schemas.ProtobufSchema;
import io.pravega.schemaregistry.serializer.shared.codec.Codec;
import io.pravega.schemaregistry.serializer.shared.codec.Codecs;
import io.pravega.schemaregistry.serializer.shared.impl.SerializerConfig;
import io.pravega.schemaregistry.serializer.shared.schemas.Schema;
import io.pravega.schemaregistry.serializers.SerializerFactory;
import io.pravega.schemaregistry.serializers.WithSchema;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;

/**
 * Pravega's serializers, unmodified, as a program that is asked line by line in JSON: write a value, read a record, or call
 * each method of the client once.
 */
public final class Exchange {
    static final ObjectMapper JSON = new ObjectMapper();
    static final String NOTE = "<note/>";

    private final SchemaRegistryClient client;
    private final Map<String, Serializer<?>> made = new LinkedHashMap<>();

    private Exchange(SchemaRegistryClient client) {
        this.client = client;
    }

    public static void main(String[] words) throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        SchemaRegistryClientConfig config =
                SchemaRegistryClientConfig.builder().schemaRegistryUri(URI.create(words[0])).build();
        Exchange exchange = new Exchange(SchemaRegistryClientFactory.withDefaultNamespace(config));
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Map<String, Object> answer = new LinkedHashMap<>();
            try {
                JsonNode question = JSON.readTree(line);
                switch (question.get("op").asText()) {
                    case "write" -> answer.put("data", exchange.write(question));
                    case "read" -> answer.put("value", exchange.read(question));
                    default -> answer.putAll(Methods.call(exchange.client, words[0], question.get("group").asText()));
                }
            } catch (Throwable wrong) {
                answer.clear();
                answer.put("error", String.valueOf(wrong));
            }
            out.println(JSON.writeValueAsString(answer));
        }
        System.exit(0); // the client's threads are no daemons
    }

    // ------------------------------------------------------------------------------------------------ write

    @SuppressWarnings("unchecked")
    private String write(JsonNode question) {
        String key = "write " + question.get("kind") + question.get("type") + question.get("format") + question.get("group");
        Serializer<Object> writer = (Serializer<Object>)
                made.computeIfAbsent(key, none -> writer(question, question.get("type").asText()));
        boolean order = question.get("type").asText().equals("Order");
        String kind = question.get("kind").asText();
        Object value = value(question.get("format").asText(), kind, order);
        ByteBuffer data = writer.serialize(kind.equals("with") ? with(question.get("format").asText(), order) : value);
        byte[] bytes = new byte[data.remaining()];
        data.get(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private Serializer<?> writer(JsonNode question, String type) {
        SerializerConfig config = config(question);
        boolean order = type.equals("Order");
        String format = question.get("format").asText();
        String kind = question.get("kind").asText();
        if (kind.equals("with")) {
            return SerializerFactory.serializerWithSchema(config);
        }
        boolean multi = kind.equals("multi");
        return switch (format) {
            case "Avro" -> multi
                    ? SerializerFactory.avroMultiTypeSerializer(config, (Map) avro())
                    : kind.equals("generic")
                            ? SerializerFactory.avroSerializer(config, AvroSchema.ofRecord(avroSchema(order)))
                            : SerializerFactory.avroSerializer(config, AvroSchema.of(kind(order)));
            case "Json" -> multi
                    ? SerializerFactory.jsonMultiTypeSerializer(config, (Map) json())
                    : SerializerFactory.jsonSerializer(config, JSONSchema.of(kind(order)));
            case "Protobuf" -> multi
                    ? SerializerFactory.protobufMultiTypeSerializer(config, (Map) protobuf())
                    : kind.equals("generic")
                            ? SerializerFactory.protobufSerializer(config, dynamic())
                            : SerializerFactory.protobufSerializer(config, (ProtobufSchema) protobuf().get(message(order)));
            default -> SerializerFactory.customSerializer(
                    config, new NoteSchema(), (value, schema, out) -> put(out, value.toString()));
        };
    }

    private Object value(String format, String kind, boolean order) {
        boolean generic = kind.equals("generic");
        return switch (format) {
            case "Avro" -> generic ? record(order) : order ? new Order("tea", 3) : new Cancel("tea");
            case "Json" -> order ? new Order("tea", 3) : new Cancel("tea");
            case "Protobuf" -> generic ? dynamicOrder() : order ? stamp() : span();
            default -> NOTE;
        };
    }

    private static Object with(String format, boolean order) {
        return switch (format) {
            case "Avro" -> WithSchema.avro((Object) record(order), AvroSchema.of(avroSchema(order)));
            case "Json" -> order
                    ? WithSchema.json(new Order("tea", 3), JSONSchema.of(Order.class))
                    : WithSchema.json(new Cancel("tea"), JSONSchema.of(Cancel.class));
            default -> order
                    ? WithSchema.proto(stamp(), ProtobufSchema.of(Timestamp.class))
                    : WithSchema.proto(span(), ProtobufSchema.of(Duration.class));
        };
    }

    // ------------------------------------------------------------------------------------------------- read

    private String read(JsonNode question) throws IOException {
        String key = "read " + question.get("kind") + question.get("type") + question.get("format") + question.get("group");
        Serializer<?> reader = made.computeIfAbsent(key, none -> reader(question));
        Object value = reader.deserialize(ByteBuffer.wrap(HexFormat.of().parseHex(question.get("data").asText())));
        return print(value);
    }

    @SuppressWarnings({"unchecked", "rawtypes"})
    private Serializer<?> reader(JsonNode question) {
        SerializerConfig config = config(question);
        boolean order = question.get("type").asText().equals("Order");
        String all = question.get("format").asText() + " " + question.get("kind").asText();
        return switch (all) {
            case "Avro typed" -> SerializerFactory.avroDeserializer(config, AvroSchema.of(kind(order)));
            case "Avro generic" -> SerializerFactory.avroGenericDeserializer(config, null);
            case "Avro schema" -> SerializerFactory.avroGenericDeserializer(config, AvroSchema.of(avroSchema(order)));
            case "Avro multi" -> SerializerFactory.avroMultiTypeDeserializer(config, (Map) avro());
            case "Avro either" -> SerializerFactory.avroTypedOrGenericDeserializer(config, (Map) avro());
            case "Json typed" -> SerializerFactory.jsonDeserializer(config, JSONSchema.of(kind(order)));
            case "Json generic" -> SerializerFactory.jsonGenericDeserializer(config);
            case "Json text" -> SerializerFactory.jsonStringDeserializer(config);
            case "Json multi" -> SerializerFactory.jsonMultiTypeDeserializer(config, (Map) json());
            case "Json either" -> SerializerFactory.jsonTypedOrGenericDeserializer(config, (Map) json());
            case "Protobuf typed" ->
                SerializerFactory.protobufDeserializer(config, (ProtobufSchema) protobuf().get(message(order)));
            case "Protobuf generic" -> SerializerFactory.protobufGenericDeserializer(config, null);
            case "Protobuf multi" -> SerializerFactory.protobufMultiTypeDeserializer(config, (Map) protobuf());
            case "Protobuf either" -> SerializerFactory.protobufTypedOrGenericDeserializer(config, (Map) protobuf());
            case "Custom typed" -> SerializerFactory.customDeserializer(
                    config, new NoteSchema(), (in, writer, reader) -> new String(all(in), StandardCharsets.UTF_8));
            default -> switch (question.get("kind").asText()) {
                case "with" -> SerializerFactory.deserializerWithSchema(config);
                case "any" -> SerializerFactory.genericDeserializer(config);
                default -> SerializerFactory.deserializeAsJsonString(config);
            };
        };
    }

    private static byte[] all(java.io.InputStream in) {
        try {
            return in.readAllBytes();
        } catch (IOException wrong) {
            throw new java.io.UncheckedIOException(wrong);
        }
    }

    private static String print(Object value) throws IOException {
        if (value instanceof Either<?, ?> either) {
            return print(either.isLeft() ? either.getLeft() : either.getRight());
        }
        if (value instanceof WithSchema<?> with) {
            return print(with.getObject());
        }
        if (value instanceof Message message) {
            return JsonFormat.printer().omittingInsignificantWhitespace().print(message);
        }
        if (value instanceof String || value instanceof GenericRecord || value instanceof JsonNode) {
            return value.toString();
        }
        return JSON.writeValueAsString(value);
    }

    // --------------------------------------------------------------------------------------------- settings

    private SerializerConfig config(JsonNode question) {
        boolean header = question.get("header").asBoolean();
        SerializationFormat format = switch (question.get("format").asText()) {
            case "Custom" -> SerializationFormat.custom("note");
            default -> SerializationFormat.valueOf(question.get("groupFormat").asText());
        };
        String codec = question.get("codec").asText();
        SerializerConfig.SerializerConfigBuilder builder = SerializerConfig.builder()
                .registryClient(client)
                .groupId(question.get("group").asText())
                .createGroup(format, Compatibility.allowAny(), true)
                .registerSchema(true)
                .registerCodec(true)
                .writeEncodingHeader(header);
        return (switch (codec) {
                    case "gzip" -> builder.encoder(Codecs.GzipCompressor.getCodec());
                    case "snappy" -> builder.encoder(Codecs.SnappyCompressor.getCodec());
                    case "turn" -> builder.encoder(new Turn()).decoder("turn", new Turn());
                    default -> builder;
                })
                .build();
    }

    /** A codec of a program: each byte is turned by a key, which readers get as a property. */
    static final class Turn implements Codec {
        @Override
        public String getName() {
            return "turn";
        }

        @Override
        public CodecType getCodecType() {
            return new CodecType("turn", ImmutableMap.of("key", "7"));
        }

        @Override
        public void encode(ByteBuffer data, OutputStream out) throws IOException {
            while (data.hasRemaining()) {
                out.write(data.get() ^ 7);
            }
        }

        @Override
        public ByteBuffer decode(ByteBuffer data, Map<String, String> properties) {
            ByteBuffer turned = ByteBuffer.allocate(data.remaining());
            while (data.hasRemaining()) {
                turned.put((byte) (data.get() ^ Integer.parseInt(properties.get("key"))));
            }
            return turned.flip();
        }
    }

    // ------------------------------------------------------------------------------------- schemas and values

    /** The schema of a custom format. */
    static final class NoteSchema implements Schema<Object> {
        @Override
        public SchemaInfo getSchemaInfo() {
            ByteBuffer data = ByteBuffer.wrap("<schema/>".getBytes(StandardCharsets.UTF_8));
            return new SchemaInfo("Note", SerializationFormat.custom("note"), data, ImmutableMap.of());
        }

        @Override
        public Class<Object> getTClass() {
            return Object.class;
        }
    }

    private static void put(OutputStream out, String text) {
        try {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException wrong) {
            throw new java.io.UncheckedIOException(wrong);
        }
    }

    static Map<Class<?>, AvroSchema<?>> avro() {
        return Map.of(
                Order.class, AvroSchema.ofBaseType(Order.class, Object.class),
                Cancel.class, AvroSchema.ofBaseType(Cancel.class, Object.class));
    }

    static Map<Class<?>, JSONSchema<?>> json() {
        return Map.of(
                Order.class, JSONSchema.ofBaseType(Order.class, Object.class),
                Cancel.class, JSONSchema.ofBaseType(Cancel.class, Object.class));
    }

    static Map<Class<?>, ProtobufSchema<?>> protobuf() {
        return Map.of(
                Timestamp.class, ProtobufSchema.ofGeneratedMessageV3(Timestamp.class),
                Duration.class, ProtobufSchema.ofGeneratedMessageV3(Duration.class));
    }

    static Class<? extends GeneratedMessageV3> message(boolean order) {
        return order ? Timestamp.class : Duration.class;
    }

    @SuppressWarnings("unchecked")
    static Class<Object> kind(boolean order) {
        return (Class<Object>) (Class<?>) (order ? Order.class : Cancel.class);
    }

    static org.apache.avro.Schema avroSchema(boolean order) {
        return AvroSchema.of(kind(order)).getSchema();
    }

    static GenericRecord record(boolean order) {
        GenericRecord made = new GenericData.Record(avroSchema(order));
        made.put("item", "tea");
        if (order) {
            made.put("count", 3);
        }
        return made;
    }

    static Timestamp stamp() {
        return Timestamp.newBuilder().setSeconds(3).build();
    }

    static Duration span() {
        return Duration.newBuilder().setSeconds(3).build();
    }

    static FileDescriptorProto file() {
        FieldDescriptorProto.Builder item = FieldDescriptorProto.newBuilder()
                .setName("item")
                .setNumber(1)
                .setType(FieldDescriptorProto.Type.TYPE_STRING)
                .setLabel(FieldDescriptorProto.Label.LABEL_OPTIONAL);
        FieldDescriptorProto.Builder count = FieldDescriptorProto.newBuilder()
                .setName("count")
                .setNumber(2)
                .setType(FieldDescriptorProto.Type.TYPE_INT32)
                .setLabel(FieldDescriptorProto.Label.LABEL_OPTIONAL);
        return FileDescriptorProto.newBuilder()
                .setName("order.proto")
                .setPackage("exchange")
                .setSyntax("proto3")
                .addMessageType(DescriptorProto.newBuilder().setName("First"))
                .addMessageType(DescriptorProto.newBuilder().setName("Order").addField(item).addField(count))
                .build();
    }

    static ProtobufSchema<DynamicMessage> dynamic() {
        return ProtobufSchema.of("exchange.Order", FileDescriptorSet.newBuilder().addFile(file()).build());
    }

    static DynamicMessage dynamicOrder() {
        try {
            Descriptor type = FileDescriptor.buildFrom(file(), new FileDescriptor[0]).findMessageTypeByName("Order");
            return DynamicMessage.newBuilder(type)
                    .setField(type.findFieldByName("item"), "tea")
                    .setField(type.findFieldByName("count"), 3)
                    .build();
        } catch (Exception wrong) {
            throw new IllegalStateException(wrong);
        }
    }
}
