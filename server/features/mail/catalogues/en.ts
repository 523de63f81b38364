/** Words of the mails in English. A catalogue of another language has the same keys. */
export const en = {
  greeting: "Hello {{name}},",
  footer: {
    sentFor: "Sent by Signet on behalf of {{organization}}.",
    private: "This message is meant for {{address}} only.",
    account: "Sent by Signet about your account.",
  },
  signing_request: {
    subject: "{{sender}} asks you to sign “{{title}}”",
    heading: "Please sign “{{title}}”",
    body: "{{sender}} has sent you a document to review and sign.",
    deadline: "The document can be signed until {{date}}.",
    button: "Review and sign",
    note: "The link is yours alone: do not forward this e-mail. If you do not know the sender, you can ignore it.",
  },
  reminder: {
    subject: "Reminder: {{sender}} asks you to sign “{{title}}”",
    heading: "“{{title}}” still waits for you",
    body: "{{sender}} has sent you a document to review and sign, and it still waits for your signature.",
  },
  code: {
    subject: "Your code for “{{title}}”",
    heading: "Your one-time code",
    body: "Enter this code to continue with “{{title}}”.",
    note_one: "The code works once, within one minute. Nobody will ever ask you for it on the phone or by e-mail.",
    note_other:
      "The code works once, within {{count}} minutes. Nobody will ever ask you for it on the phone or by e-mail.",
    hours_one: "The code works once, within one hour. Nobody will ever ask you for it on the phone or by e-mail.",
    hours_other:
      "The code works once, within {{count}} hours. Nobody will ever ask you for it on the phone or by e-mail.",
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
  viewer_update: {
    completed: {
      subject: "Signed by everybody: “{{title}}”",
      heading: "Everybody has signed “{{title}}”",
      body: "The document that you follow was signed by everybody. It is being sealed.",
    },
    sealed: {
      subject: "Completed: “{{title}}”",
      heading: "“{{title}}” is signed and sealed",
      body: "The document that you follow was signed by everybody and is sealed.",
    },
    declined: {
      subject: "Declined: “{{title}}”",
      heading: "“{{title}}” was declined",
      body: "Somebody has declined to sign the document that you follow. It can no longer be signed.",
    },
    voided: {
      subject: "Withdrawn: “{{title}}”",
      heading: "“{{title}}” was withdrawn",
      body: "The document that you follow was withdrawn by its sender. It can no longer be signed.",
    },
    expired: {
      subject: "Expired: “{{title}}”",
      heading: "“{{title}}” has expired",
      body: "The time to sign the document that you follow is over. It can no longer be signed.",
    },
  },
  invitation: {
    subject: "{{by}} invites you to {{organization}}",
    heading: "Join {{organization}}",
    body: "{{by}} has invited you to work in {{organization}}: to send documents to be signed and to follow them.",
    role_owner: "You will be an owner: you may do everything, and decide who else may.",
    role_admin: "You will be an administrator: you may manage people, keys and settings.",
    role_member: "You will be a member: you may work with templates and envelopes.",
    button: "Accept the invitation",
    note: "The link works for 7 days and is yours alone: do not forward this e-mail. If you do not know the sender, you can ignore it.",
  },
  sign_in_code: {
    subject: "Your code to sign in",
    heading: "Your code to sign in",
    body: "Enter this code on the page where you asked for it.",
    ignore: "If you did not want to sign in, you can ignore this e-mail: without the code nobody gets in.",
  },
  confirm_account: {
    subject: "Confirm your e-mail address",
    heading: "Confirm your e-mail address",
    body: "Enter this code to finish your account.",
    ignore: "If you did not ask for an account, you can ignore this e-mail: none is made.",
  },
  magic_link: {
    subject: "Your link to sign in",
    heading: "Sign in with one click",
    body: "Open this link in the browser in which you want to work.",
    button: "Sign in",
    ignore: "If you did not want to sign in, you can ignore this e-mail.",
  },
  password_reset: {
    subject: "Choose a new password",
    heading: "Choose a new password",
    body: "Somebody, probably you, asked for a new password. Choosing one signs you out everywhere.",
    button: "Choose a password",
    ignore: "If it was not you, you can ignore this e-mail: your password stays as it is.",
  },
  link: {
    note_one: "The link works once, within one minute. Do not forward this e-mail.",
    note_other: "The link works once, within {{count}} minutes. Do not forward this e-mail.",
  },
  account_exists: {
    subject: "You have an account already",
    heading: "You have an account already",
    body: "Somebody, probably you, asked for an account with this address. There is one already, and nothing was changed. Sign in with your password, or have a code or a link mailed to you; if you have forgotten the password, you can choose a new one.",
    button: "Go to the sign-in",
    ignore: "If it was not you, you can ignore this e-mail.",
  },
  security_notice: {
    subject: "A change to how you sign in",
    heading: "A change to how you sign in",
    password_changed: "Your password was changed on {{date}}, and your other sessions were ended.",
    password_reset:
      "Your password was set anew through a one-time link on {{date}}, and all your sessions were ended. Passkeys and connected accounts go on signing in to your account: look through them under Settings, Account, and remove what you do not know.",
    passkey_added: "A passkey was added to your account on {{date}}.",
    passkey_removed: "A passkey was removed from your account on {{date}}.",
    social_connected: "An account of another service was connected to yours on {{date}}.",
    social_disconnected: "An account of another service was disconnected from yours on {{date}}.",
    help: "If this was not you, choose a new password at once, look at your sessions, and tell your administrator.",
  },
  anchor_witness: {
    subject: "Anchor {{sequence}}: please keep this e-mail",
    heading: "A new anchor of the sealed documents",
    body: "You are a witness of this service: anchor {{sequence}} stands below, signed by it. Whoever holds it can show that no document was taken out of the record afterwards.",
    checkpoint: "Checkpoint (C2SP tlog-checkpoint)",
    note: "Keep this e-mail where the operators of the service cannot reach it. Nothing else needs to be done.",
  },
  member_promoted: {
    subject: "{{organization}}: somebody has more rights now",
    heading: "Somebody has more rights in “{{organization}}” now",
    owner: "{{name}} ({{email}}) became an owner of “{{organization}}” on {{date}}. It was done or allowed by {{by}}.",
    admin:
      "{{name}} ({{email}}) became an administrator of “{{organization}}” on {{date}}. It was done or allowed by {{by}}.",
    help: "You get this because you own the organization. If it should not be so, take the role away under Settings, Members, and look at what was done under Settings, Record.",
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
};

export type MailWords = typeof en;
