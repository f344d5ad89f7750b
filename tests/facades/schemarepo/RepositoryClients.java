import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.schemarepo.CacheRepository;
import org.schemarepo.InMemoryCache;
import org.schemarepo.ReadOnlyRepository;
import org.schemarepo.Repository;
import org.schemarepo.SchemaEntry;
import org.schemarepo.Subject;
import org.schemarepo.SubjectConfig;
import org.schemarepo.client.Avro1124RESTRepositoryClient;
import org.schemarepo.client.RESTRepositoryClient;
import org.schemarepo.client.RepositoryClient;
import org.schemarepo.json.GsonJsonUtil;

/** Calls every method of both generations of schema-repo's client, and prints one line with the result of each. */
public class RepositoryClients {
    static final String INT = "\"int\"", LONG = "\"long\"", SPACED = " \"int\"";

    public static void main(String[] words) {
        String url = words[0];
        RESTRepositoryClient rest = new RESTRepositoryClient(url, new GsonJsonUtil(), false);
        System.out.println("# rest");
        walk(rest, "r");
        say("configuration", () -> rest.getConfiguration(false).containsKey("treaty.version"));
        say("all of the configuration", () -> rest.getConfiguration(true).size() > 50);
        System.out.println("# lenient rest");
        RESTRepositoryClient lenient = new RESTRepositoryClient(url, new GsonJsonUtil(), true);
        say("unknown", () -> lenient.lookup("nobody"));
        say("by id", () -> lenient.lookup("r").lookupById("7"));
        walk(lenient, "l");
        System.out.println("# first");
        walk(new Avro1124RESTRepositoryClient(url), "f");
        System.out.println("# cached");
        walk(new CacheRepository(rest, new InMemoryCache()), "c");
        System.out.println("# read only");
        Repository shown = new ReadOnlyRepository(rest);
        say("latest", () -> shown.lookup("r").latest());
        say("register", () -> shown.lookup("r").register(INT));
        say("create", () -> shown.register("x", null));
        System.out.println("# validators");
        SubjectConfig none = new SubjectConfig.Builder().addValidator("NO_SUCH").build();
        say("unknown validator", () -> rest.register("v", none));
        say("not made", () -> rest.lookup("v"));
        SubjectConfig strict = new SubjectConfig.Builder().set("owner", "ann").addValidator("DOC_MISSING").build();
        say("create", () -> rest.register("v", strict).getName());
        say("config", () -> new TreeMap<>(rest.lookup("v").getConfig().asMap()));
        say("validators", () -> rest.lookup("v").getConfig().getValidators());
        say("refused", () -> rest.lookup("v").register("{\"type\":\"record\",\"name\":\"R\",\"fields\":[]}"));
        say("taken", () -> rest.lookup("v").register("{\"type\":\"record\",\"name\":\"R\",\"doc\":\"d\",\"fields\":[]}"));
    }

    static void walk(Repository repository, String name) {
        if (repository instanceof RepositoryClient)
            say("status", () -> ((RepositoryClient) repository).getStatus());
        say("unknown", () -> repository.lookup(name));
        say("create", () -> repository.register(name, SubjectConfig.emptyConfig()).getName());
        say("again", () -> repository.register(name, new SubjectConfig.Builder().set("k", "v").build()).getName());
        Subject subject = repository.lookup(name);
        say("name", subject::getName);
        say("config", () -> new TreeMap<>(subject.getConfig().asMap()));
        say("integral", subject::integralKeys);
        say("empty", subject::latest);
        say("none", () -> entries(subject));
        say("wrong start", () -> subject.registerIfLatest(INT, new SchemaEntry("0", INT)));
        say("first", () -> subject.registerIfLatest(INT, null));
        say("same", () -> subject.register(INT));
        say("spaced", () -> subject.register(SPACED));
        say("old latest", () -> subject.registerIfLatest(LONG, new SchemaEntry("0", INT)));
        say("latest given", () -> subject.registerIfLatest(LONG, new SchemaEntry("1", SPACED)));
        say("not empty", () -> subject.registerIfLatest("\"string\"", null));
        say("lines", () -> subject.register("[\"int\",\n\"null\"]"));
        say("accents", () -> subject.register("{\"type\":\"enum\",\"name\":\"E\",\"doc\":\"\u00e9\u20ac\",\"symbols\":[\"A\"]}"));
        say("text", () -> subject.register("no schema"));
        say("latest", subject::latest);
        say("by id", () -> subject.lookupById("1"));
        say("by lines", () -> subject.lookupById("3"));
        say("no id", () -> subject.lookupById("99"));
        say("no number", () -> subject.lookupById("x"));
        say("by schema", () -> subject.lookupBySchema(LONG));
        say("no schema", () -> subject.lookupBySchema("\"bytes\""));
        say("all", () -> entries(subject));
        say("subjects", () -> names(repository).contains(name));
    }

    static List<String> entries(Subject subject) {
        List<String> found = new ArrayList<>();
        for (SchemaEntry one : subject.allEntries()) found.add(one.getId());
        return found;
    }

    static List<String> names(Repository repository) {
        List<String> found = new ArrayList<>();
        for (Subject one : repository.subjects()) found.add(one.getName());
        return found;
    }

    static void say(String what, Callable<?> call) {
        String told;
        try {
            Object found = call.call();
            told = found instanceof SchemaEntry ? ((SchemaEntry) found).getId() + " " + ((SchemaEntry) found).getSchema() : String.valueOf(found);
        } catch (Throwable wrong) {
            told = wrong.getClass().getSimpleName();
        }
        System.out.println(what + ": " + told.replace("\n", "\\n"));
    }
}
