import fc from "fast-check";

/**
 * Addresses of the web, well-formed and otherwise. fast-check's own `webUrl` takes ninety milliseconds for each, which a
 * hundred runs of a few properties make half a minute.
 */
export const webAddress = fc
  .record({
    scheme: fc.constantFrom("http", "https", "HTTPS", "ws", "ftp"),
    user: fc.constantFrom("", "", "user@", "user:pw@"),
    host: fc.array(fc.constantFrom("example", "com", "console", "127.0.0.1", "localhost", "xn--p1ai", "a-b", "[::1]"), {
      minLength: 1,
      maxLength: 3,
    }),
    port: fc.constantFrom("", "", ":80", ":8443", ":99999"),
    rest: fc.oneof(
      fc.constantFrom("", "/", "/..", "/%2e%2e/x", "?q=1", "#x", "/a?b#c"),
      fc.string().map((text) => `/${text}`),
    ),
  })
  .map(({ scheme, user, host, port, rest }) => `${scheme}://${user}${host.join(".")}${port}${rest}`);
