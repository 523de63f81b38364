import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer } from "smtp-server";

export type Received = { from: string; to: string[]; raw: string; mail: ParsedMail };
/** What the server answers instead of taking the next mail: at the recipient's address or after the content. */
export type Refusal = { at: "rcpt" | "data"; code: number };

export type SmtpSink = {
  url: string;
  received: Received[];
  refusals: Refusal[];
  /** Messages that were offered, refused ones included. */
  offered: () => number;
  connections: () => number;
  close(): Promise<void>;
};

/** A real mail server on a free port that keeps what it gets. */
export async function startSmtpSink(): Promise<SmtpSink> {
  const received: Received[] = [];
  const refusals: Refusal[] = [];
  let offered = 0;
  let connections = 0;
  const refuse = (at: Refusal["at"]) => {
    if (refusals[0]?.at !== at) return undefined;
    const code = refusals.shift()?.code ?? 450;
    return Object.assign(new Error(`refused with ${code} for this test`), { responseCode: code });
  };
  const server = new SMTPServer({
    authOptional: true,
    closeTimeout: 50,
    disabledCommands: ["STARTTLS", "AUTH"],
    onConnect(_session, done) {
      connections += 1;
      done();
    },
    onRcptTo(_address, _session, done) {
      const error = refuse("rcpt");
      if (error) offered += 1;
      done(error ?? null);
    },
    onData(stream, session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        offered += 1;
        const error = refuse("data");
        if (error) return void done(error);
        const { mailFrom, rcptTo } = session.envelope;
        simpleParser(Buffer.concat(chunks)).then((mail) => {
          const raw = Buffer.concat(chunks).toString("utf8");
          received.push({
            from: mailFrom ? mailFrom.address : "",
            to: rcptTo.map(({ address }) => address),
            raw,
            mail,
          });
          done();
        }, done);
      });
    },
  });
  server.listen(0, "127.0.0.1");
  await once(server.server, "listening");
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    refusals,
    offered: () => offered,
    connections: () => connections,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
