import type Catalogue from "../../../locales/en/findings.json";
import type { CodesIn } from "../health/service.ts";

/**
 * Everything that a step of the setup can say, by code, with what its words are filled with (`setupText` in
 * `locales/<language>/findings.json`): a code is not renamed, and its parameters stay.
 */
export const setupParams = {
  "owner.there": [],
  "owner.missing": [],
  "address.set": ["url"],
  "address.loopback": ["url"],
  "tls.installed": [],
  "tls.proxy": [],
  "tls.loopback": [],
  "tls.self-signed": [],
  "mail.server": [],
  "mail.sender": ["sender"],
  "mail.files": [],
  "clock.right": ["now"],
  "clock.doubted": ["machine"],
  "keys.valid": ["day"],
  "keys.over": ["day"],
  "keys.begun": [],
  "backup.set": ["folder"],
  "backup.missing": [],
  "summary.done": [],
  "summary.open": ["steps"],
} as const satisfies Readonly<Record<CodesIn<(typeof Catalogue)["setupText"]>, readonly string[]>>;

export type SetupCode = keyof typeof setupParams;
