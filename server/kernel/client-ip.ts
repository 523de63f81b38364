import ipaddr from "ipaddr.js";

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];
export type ClientIp = (peer: string | undefined, forwardedFor: string | undefined) => string;

/**
 * The one place that decides who called: the peer, or the last address in X-Forwarded-For that no trusted proxy wrote.
 * @param trusted addresses or CIDR ranges
 * @throws Error when an entry is neither
 */
export function clientIp(trusted: readonly string[]): ClientIp {
  const ranges = trusted.map(parseRange);
  const isTrusted = (address: string) => {
    if (!isAddress(address)) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits));
  };
  return (peer, forwardedFor) => {
    let address = normalize(peer ?? "0.0.0.0");
    if (!forwardedFor || ranges.length === 0) return address;
    const hops = forwardedFor
      .split(",")
      .map((hop) => hop.trim())
      .reverse();
    for (const hop of hops) {
      if (!isTrusted(address) || !isAddress(hop)) break;
      address = normalize(hop);
    }
    return address;
  };
}

/** Stricter than the library, which takes `10.1` for 10.0.0.1 as old C functions do. */
const isAddress = (text: string) => ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);

function parseRange(entry: string): Range {
  if (isAddress(entry.split("/")[0] ?? "") && ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  if (!isAddress(entry)) throw new Error(`${entry} is neither an IP address nor a CIDR range`);
  const address = ipaddr.process(entry);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

const mostKnown = 10_000;
const known = new Map<string, string>();

/** `::ffff:192.0.2.1` and `192.0.2.1` are one client. Remembered: parsing it stood in the profile of every small request. */
function normalize(address: string): string {
  let normal = known.get(address);
  if (normal === undefined) {
    normal = isAddress(address) ? ipaddr.process(address).toString() : address;
    if (known.size >= mostKnown) known.clear();
    known.set(address, normal);
  }
  return normal;
}

/**
 * What limits count a client by: an IPv4 address, or the network of an IPv6 address, since whoever has one address there has
 * all of its /64, and a provider's customer up to a /48 of them.
 */
export function networkOf(ip: string, bits: 64 | 48 = 64): string {
  if (!ipaddr.IPv6.isValid(ip)) return ip;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${ip.replace(/%.*$/, "")}/${bits}`).toString()}/${bits}`;
}
