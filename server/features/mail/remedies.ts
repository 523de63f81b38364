import type Catalogue from "../../../locales/en/findings.json";

/** Why a mail server did not take a mail, by nodemailer's code; `mailRemedy` of the catalogue says what to do about each. */
export const mailRemedies = [
  "EDNS",
  "ECONNECTION",
  "ESOCKET",
  "ETIMEDOUT",
  "ETLS",
  "EAUTH",
  "ENOAUTH",
  "EENVELOPE",
  "EMESSAGE",
  "other",
] as const satisfies readonly (keyof (typeof Catalogue)["mailRemedy"])[];
export type MailRemedy = (typeof mailRemedies)[number];
