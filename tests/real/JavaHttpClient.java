import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;

/** Sends a request for each line of its input, as java.net.http does by default: it asks for HTTP/2 on each new connection.
 *
 * A line is method, path, media type, ``fixed`` or ``chunked`` and body, with tabs between them. The answer is a line: protocol,
 * status, body. Each request has a client, and so a connection, of its own; the line ``again`` sends the one before on the same client.
 */
public class JavaHttpClient {
    public static void main(String[] words) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        HttpClient client = null;
        HttpRequest request = null;
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            if (!line.equals("again")) {
                client = HttpClient.newHttpClient();
                request = request(words[0], line.split("\t", -1));
            }
            var answer = client.send(request, BodyHandlers.ofString());
            System.out.println(answer.version() + "\t" + answer.statusCode() + "\t" + answer.body().replace('\n', ' '));
        }
        System.exit(0);
    }

    private static HttpRequest request(String base, String[] parts) {
        byte[] body = parts[4].getBytes(StandardCharsets.UTF_8);
        BodyPublisher sent = parts[3].equals("chunked")
            ? BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body))
            : body.length == 0 ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(body);
        return HttpRequest.newBuilder(URI.create(base + parts[1])).header("Content-Type", parts[2]).method(parts[0], sent).build();
    }
}
