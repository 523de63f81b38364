import { createHash } from "node:crypto";
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { runCli } from "../../server/cli.ts";
import { anchorNow } from "../../server/features/evidence/anchoring.ts";
import { fsck } from "../../server/features/evidence/fsck.ts";
import { submissionsOf } from "../../server/features/signing/service.ts";
import { enter, envelopeOf, movableClock, ok, submission } from "../features/signing/flow.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";

/**
 * Data folders that earlier versions left in the middle of their work (`test/harness/make-folder-fixtures.ts`). Today's version
 * takes each over, ends what was begun, and finds it whole. The tests of a folder go on from one another.
 */

const root = path.resolve(import.meta.dirname, "../fixtures/folders");
const minute = 60_000;
const [ada, ben] = ["ada@example.com", "ben@example.com"];

const Texts = z.record(z.string(), z.string());
const About = z.object({
  /** When it was left. */
  at: z.string(),
  /** Where it was reached: mails that wait lead there. */
  baseUrl: z.string(),
  owner: z.object({ email: z.string() }),
  keys: z.object({ live: z.string(), test: z.string() }),
  /** Ids by what they stand for. */
  envelopes: Texts,
  /** Access tokens of the people whose turn it is. */
  bearers: Texts,
  /** The file that was added to `opened`. */
  attachment: z.string(),
  consentText: z.string(),
});

describe.each(readdirSync(root))("left by %s", (commit) => {
  const about = About.parse(JSON.parse(readFileSync(path.join(root, commit, "about.json"), "utf8")));
  const clock = movableClock(about.at);
  const temporary = mkdtempSync(path.join(tmpdir(), "signet-earlier-"));
  const folder = path.join(temporary, "data");
  let app: TestAppliance;
  const id = (name: string) => z.string().parse(about.envelopes[name]);
  const bearer = (name: string) => z.string().parse(about.bearers[name]);

  beforeAll(async () => {
    cpSync(path.join(root, commit, "folder"), folder, { recursive: true });
    // Git keeps no such mode.
    chmodSync(path.join(folder, "master.key"), 0o600);
    clock.advance(minute);
    app = await startAppliance({
      folder,
      clock,
      owner: "third@example.com",
      env: { SIGNET_BASE_URL: about.baseUrl },
    });
    Object.assign(app.keys, about.keys);
    const here = `http://127.0.0.1:${app.deps.config.port}`;
    const direct = globalThis.fetch;
    vi.stubGlobal("fetch", (to: URL, init: RequestInit) => direct(`${to}`.replace(about.baseUrl, here), init));
    await app.jobs.idle();
  });
  afterAll(async () => {
    vi.unstubAllGlobals();
    await app?.stop();
    rmSync(temporary, { recursive: true, force: true });
  });

  async function signet(...args: string[]): Promise<unknown> {
    let out = "";
    const env = { SIGNET_DATA_DIR: folder, SIGNET_LOG_LEVEL: "silent" };
    const code = await runCli([...args, "--json"], env, {
      stdout: (text) => {
        out += text;
      },
      stderr: (text) => {
        out += text;
      },
      stdin: (async function* () {})(),
      interactive: false,
      onSignal: () => undefined,
    });
    expect(code, out).toBe(0);
    return JSON.parse(out);
  }
  const stateOf = async (name: string, mode: "live" | "test" = "live") => {
    const { status, seal } = await envelopeOf(app, id(name), mode);
    return `${status}, ${seal}`;
  };
  /** Each in a moment of its own, so that the newest mail is the one that was sent last. */
  async function sign(token: string, fields: Record<string, unknown> = {}): Promise<void> {
    clock.advance(minute);
    const body = await submission(app, token);
    const json = { ...body, fields: { ...z.record(z.string(), z.unknown()).parse(body.fields), ...fields } };
    await ok(app, 200, "/v1/signing/submit", { key: { bearer: token }, json });
    await app.jobs.idle();
  }
  async function signAs(email: string): Promise<void> {
    clock.advance(minute);
    await sign(await enter(app, email));
  }
  const whole = async () => {
    const { ok: good, problems, notes } = await fsck(app.deps);
    expect({ good, problems, notes }).toEqual({ good: true, problems: [], notes: [] });
  };

  test("it is whole, and what was over stays as it was", async () => {
    await whole();
    expect(await stateOf("sealed")).toBe("completed, sealed");
    expect(await stateOf("expired")).toBe("expired, not_started");
    expect(await stateOf("voided")).toBe("voided, not_started");
    expect(await stateOf("declined")).toBe("declined, not_started");
  });

  test("what was queued is done: a rendering, a seal, a mail whose job held a secret", async () => {
    expect(await stateOf("queued")).toBe("sent, not_started");
    expect(await stateOf("closing")).toBe("completed, sealed");
    const [link] = (await app.mail()).filter(({ kind }) => kind === "magic_link");
    expect(link?.to.email).toBe(about.owner.email);
    const token = new URL(link?.link ?? "").hash.slice(1);
    const headers = { origin: app.url };
    const answer = await app.json("/auth/sign-in/magic", { key: null, json: { token }, headers });
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  });

  test("a letter that was given up is listed, and sent again by hand", async () => {
    const listed = z.object({ data: z.array(z.object({ id: z.string(), name: z.string(), state: z.string() })) });
    const { data } = listed.parse(await signet("jobs", "list"));
    expect(data).toMatchObject([{ name: "mail.send" }]);
    clock.advance(minute);
    const { recipients } = await envelopeOf(app, id("rejected"));
    const [first] = recipients;
    expect(first?.deliveryError).toMatchObject({ code: "rejected" });
    await ok(app, 200, `/v1/envelopes/${id("rejected")}/recipients/${first?.id}/resend`, { method: "POST" });
    await signAs(ada);
  });

  test("what was half signed is signed to its end, with the tokens and files that people had", async () => {
    for (const name of ["half", "halfOwnConsent"]) await sign(bearer(name));
    await sign(bearer("opened"), { card: [about.attachment] });
    await signAs(ben);
    await signAs("cara@example.com");
    await signAs(ben);
    await sign(bearer("test"));
    await signAs(ben);
    for (const name of ["half", "halfOwnConsent", "opened", "reassigned"])
      expect([name, await stateOf(name)]).toEqual([name, "completed, sealed"]);
    expect(await stateOf("test", "test")).toBe("completed, sealed");
  });

  test("every statement that was accepted is found by its hash", async () => {
    const texts = new Set<string>();
    for (const envelope of Object.values(about.envelopes)) {
      for (const { consent } of await submissionsOf(app.deps.db.read, envelope)) {
        const { textSha256 } = consent ?? { textSha256: "" };
        const { text } = z.object({ text: z.string() }).parse(await signet("consent", textSha256));
        expect(createHash("sha256").update(text).digest("hex")).toBe(textSha256);
        texts.add(text);
      }
    }
    expect([...texts].filter((text) => text === about.consentText)).toHaveLength(1);
    expect(texts.size).toBeGreaterThan(1);
  });

  test("all that is sealed is proven by its bundle, and the folder is whole", async () => {
    await anchorNow(app.deps);
    for (const { name, url } of [
      { name: "keys.json", url: "keys.json" },
      { name: "seals.pem", url: "certificates.pem" },
      { name: "stamps.pem", url: "timestamp-certificates.pem" },
    ])
      writeFileSync(path.join(temporary, name), await (await app.call(`/.well-known/svc/${url}`)).text());
    const at = (name: string) => path.join(temporary, name);
    const trust = ["--keys", at("keys.json"), "--trust", at("seals.pem"), "--trust-timestamps", at("stamps.pem")];
    for (const name of ["sealed", "sealedOwnConsent", "closing", "half", "halfOwnConsent", "opened", "reassigned"]) {
      const response = await app.call(`/v1/envelopes/${id(name)}/evidence`);
      expect([name, response.status]).toEqual([name, 200]);
      writeFileSync(at(`${name}.zip`), Buffer.from(await response.arrayBuffer()));
      expect(await signet("verify", at(`${name}.zip`), ...trust)).toMatchObject({ verdict: "valid" });
    }
    await whole();
    expect(await signet("fsck")).toMatchObject({ ok: true, problems: [] });
  });
});
