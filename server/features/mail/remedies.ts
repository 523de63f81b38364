/** What to do when a mail server did not take a mail, by nodemailer's code. Pages have words of their own for each. */
export const mailRemedies = {
  EDNS: "Look at the host name in SIGNET_SMTP_URL, and whether this machine can resolve names.",
  ECONNECTION: "Look at host and port in SIGNET_SMTP_URL, and whether a firewall stands between.",
  ESOCKET:
    "Look at host and port, and whether smtp:// or smtps:// is right: port 465 wants smtps://. A certificate of a private authority needs SIGNET_CA_FILE.",
  ETIMEDOUT: "The mail server does not answer: look at port and firewall, and whether smtp:// or smtps:// is right.",
  ETLS: "The mail server offers no encryption that can be used: look at smtp:// or smtps://, and at SIGNET_CA_FILE.",
  EAUTH: "Look at user and password in SIGNET_SMTP_URL; characters such as @ and / are written as %40 and %2F.",
  ENOAUTH: "The mail server wants a user and a password: put them into SIGNET_SMTP_URL.",
  EENVELOPE:
    "The mail server refuses the sender or the recipient: look at SIGNET_MAIL_FROM, and whether it lets this machine relay.",
  EMESSAGE: "The mail server refuses what the mail holds: look at its answer in the transcript.",
  other: "Look at the transcript, and at the log of the mail server.",
} as const;
export type MailRemedy = keyof typeof mailRemedies;
export const mailRemedyCodes = Object.keys(mailRemedies) as MailRemedy[];
