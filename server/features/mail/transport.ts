import { randomUUID } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { rootCertificates } from "node:tls";
import { format } from "node:util";
import type { SendMailOptions } from "nodemailer";
import { type Config, isLoopback } from "../../config.ts";
import { syncFolder } from "../../kernel/durable.ts";

/**
 * The way out: an SMTP server, or files in a folder. The only file that knows nodemailer, which is loaded with the first
 * mail and not with the service.
 */

export type Letter = {
  /** Of the mail's row: names the file. */
  id: string;
  from: string;
  to: { email: string; name: string | null };
  subject: string;
  html: string;
  text: string;
  messageId: string;
  /** The Date header: of the cause, not of the attempt. */
  date: Date;
  language: string;
  attachments: { filename: string; bytes: Uint8Array }[];
};

export type Transport = {
  kind: "smtp" | "outbox";
  deliver(letter: Letter): Promise<void>;
  /**
   * With nothing that others have used, so that what it takes is the same for everybody.
   * @param to `nobody`: goes as far as the server's door, or as the file before it has its name
   */
  deliverApart(letter: Letter, to: "addressee" | "nobody"): Promise<void>;
};

/** The server refused this letter for good (a 5xx reply to its addresses or its content, RFC 5321 §4.2.1). */
export class LetterRefused extends Error {
  override name = "LetterRefused";
}

export function createMailTransport(config: Pick<Config, "smtpUrl" | "dataDir" | "caFile">): Transport {
  return config.smtpUrl === undefined
    ? outboxTransport(path.join(config.dataDir, "outbox"))
    : smtpTransport(config.smtpUrl, config.caFile);
}

function optionsOf(letter: Letter): SendMailOptions {
  return {
    from: letter.from,
    to: { name: letter.to.name ?? "", address: letter.to.email },
    subject: letter.subject,
    text: letter.text,
    html: letter.html,
    messageId: letter.messageId,
    date: letter.date,
    headers: {
      // RFC 3834 §5: out-of-office programs do not answer this.
      "Auto-Submitted": "auto-generated",
      "X-Auto-Response-Suppress": "All",
      "Content-Language": letter.language,
    },
    attachments: letter.attachments.map(({ filename, bytes }) => ({
      filename,
      content: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      contentType: "application/pdf",
    })),
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

const idleMs = 2000;

/**
 * Connections are kept while mails follow one another, and closed when none came for two seconds, so that nothing has to
 * be ended when the service stops.
 */
function smtpTransport(smtpUrl: string, caFile: string | undefined): Transport {
  const connect = async () => {
    const { createTransport } = await import("nodemailer");
    return createTransport({
      ...(await connectionOf(smtpUrl, caFile)),
      pool: true,
      // One for each that may be under way in a queue: a code does not wait for the connection of another mail.
      maxConnections: 8,
    });
  };
  let pool: ReturnType<typeof connect> | undefined;
  let underWay = 0;
  let idle: NodeJS.Timeout | undefined;
  const release = () => {
    underWay -= 1;
    if (underWay > 0) return;
    idle = setTimeout(() => {
      const ended = pool;
      pool = undefined;
      // One that could not be made (an unreadable CA file) has nothing to close; the next mail tries again.
      ended?.then((transporter) => transporter.close()).catch(() => undefined);
    }, idleMs);
  };
  return {
    kind: "smtp",
    async deliver(letter) {
      clearTimeout(idle);
      underWay += 1;
      try {
        pool ??= connect();
        await (await pool).sendMail(optionsOf(letter));
      } catch (error) {
        throw asRefusal(error);
      } finally {
        release();
      }
    },
    async deliverApart(letter, to) {
      const { createTransport } = await import("nodemailer");
      const transporter = createTransport(await connectionOf(smtpUrl, caFile));
      try {
        if (to === "addressee") await transporter.sendMail(optionsOf(letter));
        else {
          await compose(letter);
          await transporter.verify();
        }
      } catch (error) {
        throw asRefusal(error);
      } finally {
        transporter.close();
      }
    },
  };
}

async function connectionOf(smtpUrl: string, caFile: string | undefined) {
  const url = new URL(smtpUrl);
  const secure = url.protocol === "smtps:";
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const auth = credentialsOf(url);
  return {
    host,
    port: url.port === "" ? (secure ? 465 : 587) : Number(url.port),
    secure,
    // A password crosses no network in the clear.
    requireTLS: !secure && auth !== undefined && !isLoopback(host),
    ...(auth === undefined ? {} : { auth }),
    ...(caFile === undefined ? {} : { tls: { ca: [...rootCertificates, await readFile(caFile, "utf8")] } }),
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 60_000,
  };
}

const credentialsOf = ({ username, password }: URL) =>
  username === "" ? undefined : { user: decodeURIComponent(username), pass: decodeURIComponent(password) };

export type TranscriptLine = { from: "client" | "server" | "note"; text: string };
const mostLines = 400;

/**
 * Delivers one letter over a connection of its own and keeps the conversation, without the password.
 * @returns the error instead of throwing it
 */
export async function rehearse(
  config: Pick<Config, "smtpUrl" | "dataDir" | "caFile">,
  letter: Letter,
): Promise<{ error: Error | null; transcript: TranscriptLine[] }> {
  const transcript: TranscriptLine[] = [];
  const { smtpUrl } = config;
  const deliver = async () => {
    if (smtpUrl === undefined) return await createMailTransport(config).deliver(letter);
    const { createTransport } = await import("nodemailer");
    const hide = hiding(new URL(smtpUrl));
    const keep = (entry: { tnx?: unknown }, message: string, ...values: unknown[]) => {
      const from = entry.tnx === "client" || entry.tnx === "server" ? entry.tnx : "note";
      // The letter itself is no part of the conversation.
      if (entry.tnx === "message" || transcript.length >= mostLines) return;
      for (const line of format(message, ...values).split(/\r?\n/))
        if (line) transcript.push({ from, text: hide(line) });
    };
    const logger = {
      level: () => undefined,
      trace: keep,
      debug: keep,
      info: keep,
      warn: keep,
      error: keep,
      fatal: keep,
    };
    const transporter = createTransport({ ...(await connectionOf(smtpUrl, config.caFile)), logger, debug: true });
    try {
      await transporter.sendMail(optionsOf(letter));
    } finally {
      transporter.close();
    }
  };
  try {
    await deliver();
    return { error: null, transcript };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error(String(error)), transcript };
  }
}

/** Takes out the password, as it is and as the ways to sign in encode it (RFC 4616, RFC 4954). */
function hiding(url: URL): (text: string) => string {
  const auth = credentialsOf(url);
  if (auth === undefined || auth.pass === "") return (text) => text;
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const forms = [auth.pass, url.password, base64(auth.pass), base64(`\0${auth.user}\0${auth.pass}`)];
  return (text) => forms.reduce((shown, form) => shown.replaceAll(form, "[redacted]"), text);
}

/** Replies to MAIL, RCPT and DATA speak of the letter; those to the greeting, TLS or the sign-in speak of the server. */
function asRefusal(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || !("responseCode" in error)) return error;
  const { code, responseCode } = error;
  const speaksOfLetter = code === "EENVELOPE" || code === "EMESSAGE";
  const isFinal = speaksOfLetter && typeof responseCode === "number" && responseCode >= 500;
  return isFinal ? new LetterRefused(error.message, { cause: error }) : error;
}

/** The bytes of a letter (RFC 5322). */
async function compose(letter: Letter): Promise<Buffer> {
  const { createTransport } = await import("nodemailer");
  const composer = createTransport({ streamTransport: true, buffer: true, newline: "windows" });
  const { message } = await composer.sendMail(optionsOf(letter));
  if (!Buffer.isBuffer(message)) throw new TypeError("the composer gave no bytes");
  return message;
}

/** Each mail becomes `<id>.eml`, whole or not at all; writing it again replaces it. */
function outboxTransport(folder: string): Transport {
  const write = async (letter: Letter, to: "addressee" | "nobody") => {
    const message = await compose(letter);
    // Links and codes stand in it in the clear: it is for the operator alone.
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeWhole(path.join(folder, `${letter.id}.eml`), message, to === "addressee");
  };
  return {
    kind: "outbox",
    deliver: (letter) => write(letter, "addressee"),
    deliverApart: write,
  };
}

/** @param keep whether the file is to stay under its name, or to go once it was written */
async function writeWhole(file: string, bytes: Buffer, keep: boolean): Promise<void> {
  const draft = `${file}.${randomUUID()}.tmp`;
  try {
    const handle = await open(draft, "wx", 0o600);
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await (keep ? rename(draft, file) : rm(draft));
    await syncFolder(path.dirname(file));
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
