/**
 * Everything that a step of the setup can say, by code: how it is, and what to do. Pages have words of their own for each code, in
 * each language (test/console/findings), so a code is not renamed and its blanks stay.
 */
export const setupTexts = {
  "owner.there": { detail: "An organization has its owner" },
  "owner.missing": {
    detail: "Nobody owns an organization yet",
    action: "Open the one-time link of the first owner: signet first-link prints it.",
  },
  "address.set": { detail: "{{url}}" },
  "address.loopback": {
    detail: "{{url}}: links work on this machine only",
    action: "Set the base URL to the address that people open.",
  },
  "tls.installed": { detail: "A certificate is installed" },
  "tls.proxy": { detail: "A proxy terminates TLS" },
  "tls.loopback": {
    detail: "Plain HTTP on this machine only",
    action: "Let it listen on the network, or name the proxy before it.",
  },
  "tls.self-signed": {
    detail: "The certificate is self-signed: browsers warn",
    action: "Install a certificate, or let clients trust the appliance's own authority.",
  },
  "mail.server": { detail: "A mail server is set" },
  "mail.sender": {
    detail: "Mails would come from {{sender}}, which mail servers refuse",
    action: "Set the sender to an address that your mail server sends for, and send a test.",
  },
  "mail.files": {
    detail: "Mails are written to files and sent to nobody",
    action: "Set the mail server and send a test.",
  },
  "clock.right": { detail: "It is {{now}}" },
  "clock.doubted": {
    detail: "The machine says {{machine}}, which cannot be right",
    action: "Set the machine's clock right, or accept it.",
  },
  "keys.valid": { detail: "The seal key is valid until {{day}}" },
  "keys.over": { detail: "The seal key was valid until {{day}}", action: "Replace the seal key." },
  "keys.begun": { detail: "The keys are being made", action: "Wait a moment." },
  "backup.set": { detail: "{{folder}}" },
  "backup.missing": {
    detail: "No folder for backups is set",
    action: "Set where backups go, away from this machine.",
  },
  "summary.done": { detail: "Everything is set up" },
  "summary.open": { detail: "Open: {{steps}}", action: "Do what is open, or leave it out." },
} as const;
export type SetupCode = keyof typeof setupTexts;
