import { describe, expect, it } from "vitest";
import { clientIp } from "../../../server/kernel/client-ip.ts";

describe("client address", () => {
  it("believes no X-Forwarded-For unless a trusted proxy sent it", () => {
    expect(clientIp([])("203.0.113.9", "1.1.1.1")).toBe("203.0.113.9");
    expect(clientIp(["10.0.0.0/8"])("203.0.113.9", "1.1.1.1")).toBe("203.0.113.9");
    expect(clientIp(["10.0.0.1"])("10.0.0.2", "1.1.1.1")).toBe("10.0.0.2");
  });

  it("takes the last address that no trusted proxy wrote", () => {
    const of = clientIp(["10.0.0.0/8", "2001:db8::/32"]);
    expect(of("10.0.0.1", "198.51.100.7")).toBe("198.51.100.7");
    expect(of("10.0.0.1", "6.6.6.6, 198.51.100.7, 10.9.9.9")).toBe("198.51.100.7");
    expect(of("2001:db8::5", "6.6.6.6,198.51.100.7")).toBe("198.51.100.7");
    expect(of("10.0.0.1", "10.1.1.1, 10.2.2.2")).toBe("10.1.1.1");
  });

  it("stops at what is no address instead of guessing", () => {
    const of = clientIp(["10.0.0.0/8"]);
    expect(of("10.0.0.1", "198.51.100.7, unknown")).toBe("10.0.0.1");
    expect(of("10.0.0.1", "198.51.100.7, , 10.0.0.3")).toBe("10.0.0.3");
    expect(of("10.0.0.1", "198.51.100.7:4711")).toBe("10.0.0.1");
    expect(of("10.0.0.1", "' or 1=1 --")).toBe("10.0.0.1");
    expect(of("10.0.0.1", undefined)).toBe("10.0.0.1");
    expect(of(undefined, "198.51.100.7")).toBe("0.0.0.0");
  });

  it("knows an IPv4 address in IPv6 clothes", () => {
    expect(clientIp(["127.0.0.1"])("::ffff:127.0.0.1", "::ffff:198.51.100.7")).toBe("198.51.100.7");
    expect(clientIp([])("::ffff:198.51.100.7", undefined)).toBe("198.51.100.7");
  });

  it("refuses a list that is not one of addresses", () => {
    for (const entry of ["proxy.example.com", "10.0.0.0/33", "10.0.0", ""]) expect(() => clientIp([entry])).toThrow();
  });
});
