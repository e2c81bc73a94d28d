// The server of `./x bench --suite io` in Java: "raw PORT", a virtual thread for each connection.
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

public class Server {
    static final String BODY = "Hello, world!\n";
    static final byte[] RESPONSE = ("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + BODY.length() + "\r\n\r\n" + BODY)
            .getBytes(StandardCharsets.US_ASCII);

    public static void main(String[] arguments) throws IOException {
        try (ServerSocket listener = new ServerSocket(Integer.parseInt(arguments[1]), 4096, InetAddress.getLoopbackAddress())) {
            while (true) {
                Socket client = listener.accept();
                Thread.startVirtualThread(() -> serve(client));
            }
        }
    }

    static void serve(Socket client) {
        try (client) {
            client.setTcpNoDelay(true);
            InputStream in = client.getInputStream();
            OutputStream out = client.getOutputStream();
            byte[] buffer = new byte[1024];
            int used = 0;
            while (used < buffer.length) {
                int got = in.read(buffer, used, buffer.length - used);
                if (got <= 0)
                    return;
                used += got;
                if (endsRequest(buffer, used)) {
                    out.write(RESPONSE);
                    used = 0;
                }
            }
        } catch (IOException gone) {
            // The client has gone.
        }
    }

    static boolean endsRequest(byte[] buffer, int used) {
        return used >= 4 && buffer[used - 4] == '\r' && buffer[used - 3] == '\n' && buffer[used - 2] == '\r' && buffer[used - 1] == '\n';
    }
}
