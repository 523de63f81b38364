import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AllowEntry = { purpose: string; network: [Address, number]; port: number };

/**
 * Reads `purpose=CIDR:port`, for example `webhook=10.1.0.0/16:8443` or `tsa=[fd00::/8]:443`.
 * @throws Error with one line that names the entry
 */
export function parseAllowEntry(text: string): AllowEntry {
  const match = /^([a-z][a-z0-9-]*)=(?:\[([^\]]+)\]|([^[\]:]+)):(\d{1,5})$/.exec(text);
  const cidr = match?.[2] ?? match?.[3];
  const port = Number(match?.[4]);
  if (match?.[1] === undefined || cidr === undefined || port < 1 || port > 65_535) throw malformed(text);
  try {
    const network = cidr.includes("/") ? ipaddr.parseCIDR(cidr) : whole(ipaddr.parse(cidr));
    return { purpose: match[1], network, port };
  } catch {
    throw malformed(text);
  }
}

function whole(address: Address): [Address, number] {
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

function malformed(text: string): Error {
  return new Error(`"${text}" is no outbound entry; write purpose=CIDR:port, an IPv6 network in brackets`);
}

/** The address that is reached in the end: IPv4 behind ::ffff:0:0/96 (RFC 4291) and behind the NAT64 prefix 64:ff9b::/96 (RFC 6052). */
function target(address: Address): Address {
  if (!(address instanceof ipaddr.IPv6)) return address;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  if (address.match(nat64, 96)) return new ipaddr.IPv4(address.toByteArray().slice(12));
  return address;
}

const nat64 = ipaddr.IPv6.parse("64:ff9b::");
const globalUnicast = ipaddr.IPv6.parse("2000::");

/** Whether the address is public unicast, so no machine of the operator's own networks. */
export function isPublic(text: string): boolean {
  const address = target(ipaddr.parse(text));
  // What lies outside 2000::/3 is not assigned as global unicast (RFC 4291 §2.4), whatever a table does not know of.
  if (address instanceof ipaddr.IPv6 && !address.match(globalUnicast, 3)) return false;
  return address.range() === "unicast";
}

/** Whether this purpose may connect there: a public address of another machine, or one that the operator allowed. */
export function mayConnect(
  allow: readonly AllowEntry[],
  to: { purpose: string; address: string; port: number },
  own: readonly string[] = ownAddresses(),
): "public" | "private" | "refused" {
  const address = target(ipaddr.parse(to.address));
  const allowed = allow.some(
    ({ purpose, network: [base, bits], port }) =>
      purpose === to.purpose && port === to.port && base.kind() === address.kind() && address.match(base, bits),
  );
  if (allowed) return "private";
  const ours = own.some((text) => target(ipaddr.parse(text)).toNormalizedString() === address.toNormalizedString());
  return isPublic(to.address) && !ours ? "public" : "refused";
}

/** The addresses of this machine: a public one of ours may serve what is meant for the inside only. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map(({ address }) => address));
}
