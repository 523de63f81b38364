/** Words of the mails in English. A catalogue of another language has the same keys. */
export const en = {
  greeting: "Hello {{name}},",
  footer: {
    sentFor: "Sent by Signet on behalf of {{organization}}.",
    private: "This message is meant for {{address}} only.",
  },
  signing_request: {
    subject: "{{sender}} asks you to sign “{{title}}”",
    heading: "Please sign “{{title}}”",
    body: "{{sender}} has sent you a document to review and sign.",
    deadline: "The document can be signed until {{date}}.",
    button: "Review and sign",
    note: "The link is yours alone: do not forward this e-mail. If you do not know the sender, you can ignore it.",
  },
  code: {
    subject: "Your code for “{{title}}”",
    heading: "Your one-time code",
    body: "Enter this code to continue with “{{title}}”.",
    note_one: "The code works once, within one minute. Nobody will ever ask you for it on the phone or by e-mail.",
    note_other:
      "The code works once, within {{count}} minutes. Nobody will ever ask you for it on the phone or by e-mail.",
    ignore: "If you did not ask for a code, you can ignore this e-mail.",
  },
  completed: {
    subject: "Completed: “{{title}}”",
    heading: "Everybody has signed “{{title}}”",
    body: "The document is sealed. Nobody can change it any more without that showing.",
    attached: "It is attached to this e-mail.",
    button: "Download the document",
    note: "The download works for 30 days and needs no account.",
    unsealed:
      "Everybody has signed, but the document could not be sealed yet. The sender has been told and can provide the file later.",
  },
  voided: {
    subject: "Withdrawn: “{{title}}”",
    heading: "“{{title}}” was withdrawn",
    body: "{{sender}} has withdrawn the document. It can no longer be signed, and you need not do anything.",
    reason: "Reason",
  },
  declined: {
    subject: "Declined: “{{title}}”",
    heading: "“{{title}}” was declined",
    body: "{{by}} has declined to sign. The document can no longer be signed by anybody.",
    reason: "Reason",
  },
  viewer_invite: {
    subject: "{{sender}} lets you follow “{{title}}”",
    heading: "Follow the signing of “{{title}}”",
    body: "{{sender}} has invited you to see how the signing of this document goes.",
    button: "See the status",
    note: "The link is yours alone: do not forward this e-mail.",
  },
  render_failed: {
    subject: "Not sent: “{{title}}”",
    heading: "“{{title}}” could not be prepared",
    body: "The document could not be rendered, so nothing was sent to anybody and the envelope was voided.",
    reason: "What went wrong",
  },
  stalled: {
    subject: "Stopped: “{{title}}”",
    heading: "“{{title}}” does not get on by itself",
    body: "A step that runs by itself has failed for good, so nobody is asked to sign next. What was signed is kept. Ask whoever runs this service to repair the cause and to start the step again.",
    reason: "What went wrong",
  },
} as const;
