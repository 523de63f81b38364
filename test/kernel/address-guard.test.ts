import fc from "fast-check";
import { expect, test } from "vitest";
import { isPublic, mayConnect, parseAllowEntry } from "../../server/kernel/address-guard.ts";

const byte = fc.nat(255);
const dotted = (parts: readonly number[]) => parts.join(".");
/** IANA's special-purpose IPv4 blocks (RFC 6890 and later), multicast and class E, as first and last address. */
const special: readonly (readonly [string, string])[] = [
  ["0.0.0.0", "0.255.255.255"],
  ["10.0.0.0", "10.255.255.255"],
  ["100.64.0.0", "100.127.255.255"],
  ["127.0.0.0", "127.255.255.255"],
  ["169.254.0.0", "169.254.255.255"],
  ["172.16.0.0", "172.31.255.255"],
  ["192.0.0.0", "192.0.0.255"],
  ["192.0.2.0", "192.0.2.255"],
  ["192.88.99.0", "192.88.99.255"],
  ["192.168.0.0", "192.168.255.255"],
  ["198.18.0.0", "198.19.255.255"],
  ["198.51.100.0", "198.51.100.255"],
  ["203.0.113.0", "203.0.113.255"],
  ["224.0.0.0", "255.255.255.255"],
];
const toNumber = (text: string) => text.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
const ranges = special.map(([first, last]) => [toNumber(first), toNumber(last)] as const);
const isSpecial = (parts: readonly number[]) => {
  const value = toNumber(dotted(parts));
  return ranges.some(([first, last]) => value >= first && value <= last);
};
const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
const embedded = (prefix: string, [a = 0, b = 0, c = 0, d = 0]: readonly number[]) =>
  `${prefix}${hex(a, b)}:${hex(c, d)}`;

const address = fc.oneof(
  fc.tuple(byte, byte, byte, byte),
  fc.constantFrom(...special.flat()).map((text) => text.split(".").map(Number)),
);

test("IPv4 is public exactly outside the special-purpose blocks, also mapped into IPv6 and behind NAT64", () => {
  fc.assert(
    fc.property(address, (parts) => {
      const expected = !isSpecial(parts);
      expect(isPublic(dotted(parts))).toBe(expected);
      expect(isPublic(embedded("::ffff:", parts))).toBe(expected);
      expect(isPublic(embedded("64:ff9b::", parts))).toBe(expected);
      // 6to4, Teredo, IPv4-compatible and local NAT64 could lead anywhere.
      const [a = 0, b = 0, c = 0, d = 0] = parts;
      expect(isPublic(`2002:${hex(a, b)}:${hex(c, d)}::1`)).toBe(false);
      expect(isPublic(embedded("64:ff9b:1::", parts))).toBe(false);
      expect(isPublic(embedded("::", parts))).toBe(false);
    }),
    { numRuns: 2000 },
  );
});

test("IPv6 outside global unicast is never public", () => {
  const group = fc.nat(0xffff).map((value) => value.toString(16));
  fc.assert(
    fc.property(fc.tuple(fc.nat(0xffff), fc.array(group, { minLength: 7, maxLength: 7 })), ([first, rest]) => {
      const text = `${first.toString(16)}:${rest.join(":")}`;
      if (first < 0x2000 || first > 0x3fff) {
        fc.pre(!text.startsWith("64:ff9b:") && !/^0:0:0:0:0:ffff:/.test(text));
        expect(isPublic(text)).toBe(false);
      }
    }),
    { numRuns: 2000 },
  );
  for (const text of [
    "::1",
    "::",
    "fe80::1%eth0",
    "fc00::1",
    "ff02::1",
    "2001:db8::1",
    "2001::1",
    "fec0::1",
    "3fff::1",
  ]) {
    expect(isPublic(text)).toBe(false);
  }
  expect(isPublic("2606:4700:4700::1111")).toBe(true);
});

test("an entry opens its purpose, network and port, nothing else", () => {
  const allow = ["webhook=10.1.0.0/16:8443", "tsa=[fd00::/8]:443", "webhook=127.0.0.1:9000"].map(parseAllowEntry);
  const own = ["203.0.114.7", "2606:4700::7"];
  const verdict = (purpose: string, text: string, port: number) =>
    mayConnect(allow, { purpose, address: text, port }, own);
  expect(verdict("webhook", "10.1.2.3", 8443)).toBe("private");
  expect(verdict("webhook", "::ffff:10.1.2.3", 8443)).toBe("private");
  expect(verdict("tsa", "fd00::5", 443)).toBe("private");
  expect(verdict("webhook", "127.0.0.1", 9000)).toBe("private");
  expect(verdict("webhook", "10.2.0.1", 8443)).toBe("refused");
  expect(verdict("webhook", "10.1.2.3", 443)).toBe("refused");
  expect(verdict("tsa", "10.1.2.3", 8443)).toBe("refused");
  expect(verdict("webhook", "127.0.0.2", 9000)).toBe("refused");
  expect(verdict("webhook", "8.8.8.8", 443)).toBe("public");
  expect(verdict("webhook", "203.0.114.7", 443)).toBe("refused");
  expect(verdict("webhook", "2606:4700::7", 443)).toBe("refused");
});

test("a malformed entry stops the start with its own text", () => {
  for (const text of [
    "",
    "webhook",
    "webhook=10.0.0.0/8",
    "webhook=10.0.0.0/33:80",
    "webhook=10.0.0.0/8:0",
    "=::1:80",
    "a=b:80",
    "webhook=10.0.0.0/8:99999",
  ]) {
    expect(() => parseAllowEntry(text)).toThrow(`"${text}"`);
  }
});
