import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { anchorNow } from "../../server/features/evidence/anchors/signing.ts";
import { fsck } from "../../server/features/evidence/fsck/fsck.ts";
import { submissionsOf } from "../../server/features/signing/service.ts";
import { commandOn } from "../harness/cli.ts";
import { type EarlierFolder, earlierFolders, takeOver } from "../harness/earlier-folder.ts";
import { enter, envelopeOf, ok, submission } from "../harness/scenario.ts";

/** Today's version takes over what earlier ones left, ends what was begun, and finds it whole. The tests go on from one another. */

const minute = 60_000;
const [ada, ben] = ["ada@example.com", "ben@example.com"];

describe.each(earlierFolders)("left by %s", (commit) => {
  let earlier: EarlierFolder;
  beforeAll(async () => {
    earlier = await takeOver(commit);
  });
  afterAll(() => earlier?.close());

  const id = (name: string) => z.string().parse(earlier.about.envelopes[name]);
  const bearer = (name: string) => z.string().parse(earlier.about.bearers[name]);
  async function signet(...args: string[]): Promise<unknown> {
    const { code, out, err, json } = await commandOn(earlier.app.folder)(...args, "--json");
    expect(code, out + err).toBe(0);
    return json();
  }
  async function stateOf(name: string, mode: "live" | "test" = "live"): Promise<string> {
    const { status, seal } = await envelopeOf(earlier.app, id(name), mode);
    return `${status}, ${seal}`;
  }
  /** Each in a moment of its own, so that the newest mail is the one that was sent last. */
  async function sign(token: string, fields: Record<string, unknown> = {}): Promise<void> {
    earlier.clock.advance(minute);
    const body = await submission(earlier.app, token);
    const json = { ...body, fields: { ...z.record(z.string(), z.unknown()).parse(body.fields), ...fields } };
    await ok(earlier.app, 200, "/v1/signing/submit", { key: { bearer: token }, json });
    await earlier.app.jobs.idle();
  }
  async function signAs(email: string): Promise<void> {
    earlier.clock.advance(minute);
    await sign(await enter(earlier.app, email));
  }
  async function expectWhole(): Promise<void> {
    expect(await fsck(earlier.app.deps)).toMatchObject({ ok: true, problems: [], notes: [] });
  }

  test("it is whole, and what was over stays as it was", async () => {
    await expectWhole();
    expect(await stateOf("sealed")).toBe("completed, sealed");
    expect(await stateOf("expired")).toBe("expired, not_started");
    expect(await stateOf("voided")).toBe("voided, not_started");
    expect(await stateOf("declined")).toBe("declined, not_started");
  });

  test("what was queued is done: a rendering, a seal, a mail whose job held a secret", async () => {
    expect(await stateOf("queued")).toBe("sent, not_started");
    expect(await stateOf("closing")).toBe("completed, sealed");
    const [link] = (await earlier.app.mail()).filter(({ kind }) => kind === "magic_link");
    expect(link?.to.email).toBe(earlier.about.owner.email);
    const json = { token: new URL(link?.link ?? "").hash.slice(1) };
    const headers = { origin: earlier.app.url };
    await ok(earlier.app, 200, "/auth/sign-in/magic", { key: null, json, headers });
  });

  test("a letter that was given up is listed, and sent again by hand", async () => {
    const listed = z.object({ data: z.array(z.object({ name: z.string() })) }).parse(await signet("jobs", "list"));
    expect(listed.data).toMatchObject([{ name: "mail.send" }]);
    earlier.clock.advance(minute);
    const [first] = (await envelopeOf(earlier.app, id("rejected"))).recipients;
    expect(first?.deliveryError).toMatchObject({ code: "rejected" });
    const target = `/v1/envelopes/${id("rejected")}/recipients/${first?.id}/resend`;
    await ok(earlier.app, 200, target, { method: "POST" });
    await signAs(ada);
  });

  test("what was half signed is signed to its end, with the tokens and files that people had", async () => {
    for (const name of ["half", "halfOwnConsent"]) await sign(bearer(name));
    await sign(bearer("opened"), { card: [earlier.about.attachment] });
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
    for (const envelope of Object.values(earlier.about.envelopes)) {
      for (const { consent } of await submissionsOf(earlier.app.deps.db.read, envelope)) {
        const textSha256 = consent?.textSha256 ?? "";
        const { text } = z.object({ text: z.string() }).parse(await signet("consent", textSha256));
        expect(createHash("sha256").update(text).digest("hex")).toBe(textSha256);
        texts.add(text);
      }
    }
    expect(texts).toContain(earlier.about.consentText);
    expect(texts.size).toBeGreaterThan(1);
  });

  test("all that is sealed is proven by its bundle, and the folder is whole", async () => {
    const { app, temporary } = earlier;
    const at = (name: string) => path.join(temporary, name);
    await anchorNow(app.deps);
    for (const name of ["keys.json", "certificates.pem", "timestamp-certificates.pem"])
      writeFileSync(at(name), await (await app.call(`/.well-known/svc/${name}`)).text());
    const trust = ["--trust", at("certificates.pem"), "--trust-timestamps", at("timestamp-certificates.pem")];
    for (const name of ["sealed", "sealedOwnConsent", "closing", "half", "halfOwnConsent", "opened", "reassigned"]) {
      const response = await app.call(`/v1/envelopes/${id(name)}/evidence`);
      expect([name, response.status]).toEqual([name, 200]);
      writeFileSync(at("bundle.zip"), Buffer.from(await response.arrayBuffer()));
      const report = await signet("verify", at("bundle.zip"), "--keys", at("keys.json"), ...trust);
      expect(report).toMatchObject({ verdict: "valid" });
    }
    await expectWhole();
    expect(await signet("fsck")).toMatchObject({ ok: true, problems: [] });
  });
});
