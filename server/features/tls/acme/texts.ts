/**
 * Everything that can go wrong between the server and an authority, by code: what happened, and what to do about it. Codes are the
 * authority's own (RFC 8555 §6.7), or ours where it was not reached. Pages have words of their own for each, in each language.
 */

const says = "The authority says: {{said}}";
const again = "It is tried again by itself; at once: signet tls acme renew.";
const setUpAgain = "Set it up again: signet tls acme setup.";
const otherContact = "Give another address: signet tls acme setup --contact.";
/** Where the authority comes to, and has to be led to this server. */
const http = `port 80 of the name has to lead to SIGNET_HTTP_PORT of this machine. ${again}`;
const https = `port 443 of the name has to lead to this machine's HTTPS port, with no proxy between that ends TLS. ${again}`;

export const acmeTexts = {
  other: { message: "{{cause}}", action: `Look at the log of Signet. ${again}` },
  refused: { message: says, action: `Ask those who run the authority. ${again}` },
  accountDoesNotExist: { message: says, action: setUpAgain },
  badCSR: {
    message: says,
    action:
      "The authority's rules forbid what was asked for: ask those who run it. The names, or the key (RSA 2048), may be it.",
  },
  caa: {
    message: says,
    action: "A CAA record in the DNS forbids this authority to issue for the name: add the authority to it.",
  },
  "connection-http-01": { message: says, action: `The authority could not connect to this server: ${http}` },
  "connection-tls-alpn-01": { message: says, action: `The authority could not connect to this server: ${https}` },
  dns: {
    message: says,
    action: `The authority finds no address for the name: enter it in the DNS that the authority asks. ${again}`,
  },
  externalAccountRequired: {
    message: says,
    action:
      "The authority wants to know whose account this is: give the key id and the key that it handed out (--eab-kid, --eab-key-file).",
  },
  "incorrectResponse-http-01": { message: says, action: `Something else answers under the name: ${http}` },
  "incorrectResponse-tls-alpn-01": { message: says, action: `Something else answers under the name: ${https}` },
  invalidContact: { message: says, action: otherContact },
  noChallenge: { message: says, action: "Set it up with another proof: signet tls acme setup --challenge {{other}}." },
  rateLimited: { message: says, action: "The authority wants fewer requests: it is tried again when it allows." },
  rejectedIdentifier: {
    message: says,
    action: "The authority issues nothing for this name: leave it out, or ask another authority.",
  },
  serverInternal: { message: says, action: `The fault is the authority's. ${again}` },
  "tls-http-01": { message: says, action: `The authority's TLS connection to this server failed: ${http}` },
  "tls-tls-alpn-01": { message: says, action: `The authority's TLS connection to this server failed: ${https}` },
  "unauthorized-http-01": {
    message: says,
    action: `The authority does not believe that this server stands under the name: ${http}`,
  },
  "unauthorized-tls-alpn-01": {
    message: says,
    action: `The authority does not believe that this server stands under the name: ${https}`,
  },
  unsupportedContact: { message: says, action: otherContact },
  unsupportedIdentifier: {
    message: says,
    action: "The authority issues nothing for names of this kind: leave it out, or ask another authority.",
  },
  userActionRequired: { message: says, action: "Open {{page}} and do what it asks, then: signet tls acme renew." },
  "userActionRequired-somewhere": {
    message: says,
    action: "Open the authority's page and do what it asks, then: signet tls acme renew.",
  },
  "own-network": {
    message: "{{host}} may not be called: {{cause}}.",
    action:
      "Where this is your own authority, allow its network: SIGNET_OUTBOUND_ALLOW=acme=ADDRESS/32:{{port}}, and start Signet again.",
  },
  "not-allowed": {
    message: "{{host}} may not be called: {{cause}}.",
    action: "Look at SIGNET_AIR_GAP and at the address of the directory.",
  },
  "no-address": { message: "{{host}} has no address here.", action: "Look at the name, and at this machine's DNS." },
  untrusted: {
    message: "The TLS certificate of {{host}} is of an authority that is not trusted here ({{cause}}).",
    action: "Give that authority's root: signet tls acme setup --root FILE, or SIGNET_CA_FILE for everything.",
  },
  "bad-certificate": {
    message: "The TLS certificate of {{host}} cannot be used ({{cause}}).",
    action: "Look at the name in the directory's URL, at the clock, and ask those who run the authority.",
  },
  "no-answer": {
    message: "{{host}} does not answer: {{cause}}.",
    action: `Look whether the authority runs and can be reached from here. ${again}`,
  },
} as const satisfies Readonly<Record<string, { message: string; action: string }>>;
