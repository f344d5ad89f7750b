package exchange;

import com.google.common.collect.ImmutableMap;
import io.pravega.schemaregistry.client.SchemaRegistryClient;
import io.pravega.schemaregistry.client.SchemaRegistryClientConfig;
import io.pravega.schemaregistry.client.SchemaRegistryClientFactory;
import io.pravega.schemaregistry.contract.data.CodecType;
import io.pravega.schemaregistry.contract.data.Compatibility;
import io.pravega.schemaregistry.contract.data.EncodingId;
import io.pravega.schemaregistry.contract.data.EncodingInfo;
import io.pravega.schemaregistry.contract.data.GroupProperties;
import io.pravega.schemaregistry.contract.data.SchemaInfo;
import io.pravega.schemaregistry.contract.data.SerializationFormat;
import io.pravega.schemaregistry.contract.data.VersionInfo;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Each method of Pravega's client, called once or more; the answers by the name of the method. */
final class Methods {
    private static final String FIRST = "{\"type\":\"record\",\"name\":\"R\",\"fields\":[]}";
    private static final String SECOND =
            "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"n\",\"type\":\"int\",\"default\":1}]}";
    private static final String OTHER =
            "{\"type\":\"record\",\"name\":\"R\",\"fields\":[{\"name\":\"n\",\"type\":\"int\"}]}";

    private Methods() {}

    static Map<String, Object> call(SchemaRegistryClient client, String base, String group) throws Exception {
        Map<String, Object> told = new LinkedHashMap<>();
        GroupProperties properties = new GroupProperties(
                SerializationFormat.Avro, Compatibility.backward(), false, ImmutableMap.of("team", "a"));
        told.put("addGroup", client.addGroup(group, properties) + " " + client.addGroup(group, properties));
        told.put("getGroupProperties", client.getGroupProperties(group).equals(properties));
        TreeSet<String> names = new TreeSet<>();
        for (Iterator<Map.Entry<String, GroupProperties>> groups = client.listGroups(); groups.hasNext(); ) {
            names.add(groups.next().getKey());
        }
        told.put("listGroups", names.contains(group));
        VersionInfo first = client.addSchema(group, info(FIRST));
        VersionInfo second = client.addSchema(group, info(SECOND));
        told.put("addSchema", print(first) + " " + print(second) + " " + print(client.addSchema(group, info(FIRST))));
        told.put("validateSchema", client.validateSchema(group, info(SECOND)) + " " + client.validateSchema(group, info(OTHER)));
        told.put("canReadUsing", client.canReadUsing(group, info(FIRST)) + " " + client.canReadUsing(group, info(OTHER)));
        told.put("getSchemas", versions(client.getSchemas(group)));
        told.put("getSchemaVersions", versions(client.getSchemaVersions(group, null)) + " "
                + versions(client.getSchemaVersions(group, "R")) + " " + versions(client.getSchemaVersions(group, "S")));
        told.put("getLatestSchemaVersion", print(client.getLatestSchemaVersion(group, null).getVersionInfo()) + " "
                + print(client.getLatestSchemaVersion(group, "R").getVersionInfo()));
        told.put("getVersionForSchema", print(client.getVersionForSchema(group, info(FIRST))));
        told.put("getSchemaForVersion", client.getSchemaForVersion(group, first).equals(info(FIRST)));
        CodecType codec = new CodecType("packed", ImmutableMap.of("key", "7"));
        client.addCodecType(group, codec);
        told.put("addCodecType", true);
        told.put("getCodecTypes", client.getCodecTypes(group).equals(java.util.List.of(codec)));
        EncodingId plain = client.getEncodingId(group, first, "");
        EncodingId packed = client.getEncodingId(group, second, "packed");
        told.put("getEncodingId", plain.getId() + " " + packed.getId() + " " + client.getEncodingId(group, first, "").getId());
        EncodingInfo encoding = client.getEncodingInfo(group, packed);
        told.put("getEncodingInfo", print(encoding.getVersionInfo()) + " " + encoding.getCodecType().equals(codec) + " "
                + encoding.getSchemaInfo().equals(info(SECOND)));
        told.put("getGroupHistory", client.getGroupHistory(group).stream()
                .map(one -> print(one.getVersionInfo()) + one.getCompatibility().getType())
                .collect(Collectors.joining(" ")));
        told.put("getSchemaReferences", print(client.getSchemaReferences(info(SECOND)).get(group)));
        told.put("updateCompatibility", client.updateCompatibility(group, Compatibility.full(), Compatibility.forward()) + " "
                + client.updateCompatibility(group, Compatibility.full(), Compatibility.backward()) + " "
                + client.updateCompatibility(group, Compatibility.allowAny(), null));
        client.deleteSchemaVersion(group, second);
        told.put("deleteSchemaVersion", versions(client.getSchemaVersions(group, null)) + " "
                + client.getSchemaForVersion(group, second).equals(info(SECOND)) + " "
                + client.getEncodingInfo(group, packed).getCodecType().getName());
        client.removeGroup(group);
        client.removeGroup(group);
        told.put("removeGroup", fails(() -> client.getGroupProperties(group)));
        told.put("getNamespace", Objects.requireNonNullElse(client.getNamespace(), ""));
        SchemaRegistryClientConfig config = SchemaRegistryClientConfig.builder().schemaRegistryUri(URI.create(base)).build();
        try (SchemaRegistryClient spaced = SchemaRegistryClientFactory.withNamespace("room", config)) {
            told.put("withNamespace", spaced.getNamespace() + " " + spaced.addGroup(group, properties) + " "
                    + print(spaced.addSchema(group, info(FIRST))));
        }
        told.put("close", true);
        return told;
    }

    private static SchemaInfo info(String text) {
        ByteBuffer data = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        return new SchemaInfo("R", SerializationFormat.Avro, data, ImmutableMap.of());
    }

    private static String print(VersionInfo version) {
        return version.getType() + "/" + version.getSerializationFormatName() + "/" + version.getVersion() + "/" + version.getId();
    }

    private static String versions(java.util.List<io.pravega.schemaregistry.contract.data.SchemaWithVersion> all) {
        return all.stream().map(one -> String.valueOf(one.getVersionInfo().getId())).collect(Collectors.joining(",", "[", "]"));
    }

    private static String fails(java.util.concurrent.Callable<?> action) throws Exception {
        try {
            return String.valueOf(action.call());
        } catch (RuntimeException wrong) {
            return wrong.getClass().getSimpleName();
        }
    }
}
