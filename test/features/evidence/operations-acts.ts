import fc from "fast-check";
import { z } from "zod";
import { anchorNow } from "../../../server/features/evidence/anchors/signing.ts";
import { rotateKey } from "../../../server/features/keys/ceremony.ts";
import { SigningExchange, SigningView } from "../../../server/features/signing/contract.ts";
import { png } from "../../harness/pictures.ts";
import { runNow } from "../../harness/retention.ts";
import { drawn, ok, samplePdf, typed } from "../../harness/scenario.ts";
import {
  type Asked,
  asked,
  call,
  envelopeNow,
  hourMs,
  mailsOf,
  type Sent,
  settle,
  type World,
} from "./operations-world.ts";

/** Everything that people and time ordinarily do to envelopes, in any order: what is refused is as ordinary as what is not. */

/** What a step acts on; `n` chooses among what there is. */
type Target = { envelope: number; person: number; n: number };
export type Step = Target & { act: keyof typeof acts };

/** Each name as often as it is to be drawn. */
const drawnActs = (): (keyof typeof acts)[] => {
  const often: Partial<Record<keyof typeof acts, number>> = {
    sign: 7,
    days: 5,
    addViewer: 2,
    revokeViewer: 2,
  };
  const names = Object.keys(acts).filter((name): name is keyof typeof acts => name in acts);
  return names.flatMap((name) => Array.from({ length: often[name] ?? 1 }, () => name));
};

export type Sequence = { envelopes: Asked[]; steps: Step[] };
export const sequences = (): fc.Arbitrary<Sequence> =>
  fc.record({
    envelopes: fc.array(asked, { minLength: 1, maxLength: 2 }),
    steps: fc.array(
      fc.record({
        act: fc.constantFrom(...drawnActs()),
        envelope: fc.nat(1),
        person: fc.nat(1),
        n: fc.nat(3),
      }),
      { minLength: 3, maxLength: 12, size: "max" },
    ),
  });

export async function take(world: World, { act, ...target }: Step): Promise<void> {
  const sent = world.sent[target.envelope % world.sent.length];
  if (sent) await acts[act](world, sent, target);
  await settle(world);
}

/** Ends what is still open, so that it does nothing in later sequences. */
export async function endAll(world: World): Promise<void> {
  for (const sent of world.sent) await acts.void(world, sent, { envelope: 0, person: 0, n: 0 });
  await settle(world);
}

async function personOf(world: World, sent: Sent, { person }: Target) {
  const people = (await envelopeNow(world, sent)).recipients.filter(({ kind }) => kind === "signer");
  return people[person % people.length];
}

/** Opens the newest link that was mailed to this person. */
async function open(world: World, sent: Sent, target: Target): Promise<string | undefined> {
  const person = await personOf(world, sent, target);
  const mails = await mailsOf(world, sent);
  const links = mails.filter(({ kind, to }) => /^(signing_request|reminder)$/.test(kind) && to.email === person?.email);
  const link = links[target.n === 3 ? links.length - 1 : 0]?.link;
  if (!person || !link) return undefined;
  return await exchange(world, sent, person.id, new URL(link).hash.slice(1));
}

async function exchange(world: World, sent: Sent, recipient: string, token: string): Promise<string | undefined> {
  const { status, body } = await call(world, "/v1/signing/exchange", { key: null, json: { token } });
  if (status !== 200) return undefined;
  const { accessToken } = SigningExchange.parse(body);
  sent.bearers.set(recipient, accessToken);
  return accessToken;
}

async function mint(world: World, sent: Sent, target: Target): Promise<string | undefined> {
  const person = await personOf(world, sent, target);
  const json = { recipient: person?.id };
  const { status, body } = await call(world, `/v1/envelopes/${sent.id}/sessions`, { key: sent.asked.key, json });
  const { token } = z.object({ token: z.string().optional() }).parse(body);
  return status === 201 && person && token ? await exchange(world, sent, person.id, token) : undefined;
}

/** What this person came in with, else what the newest link gives them. */
async function bearerOf(world: World, sent: Sent, target: Target): Promise<string | undefined> {
  const person = await personOf(world, sent, target);
  return (person && sent.bearers.get(person.id)) ?? (await open(world, sent, target));
}

/** Gets a code in the way that this person is to be verified, and enters it; `n` 2 and 3 enter a wrong one. */
async function verify(world: World, sent: Sent, target: Target): Promise<void> {
  const [person, bearer] = [await personOf(world, sent, target), await bearerOf(world, sent, target)];
  if (bearer === undefined || !person) return;
  const key = { bearer };
  const handed = await world.owner("POST", `/auth/envelopes/${sent.id}/recipients/${person.id}/code`);
  await call(world, "/v1/signing/otp", { key, method: "POST" });
  await settle(world);
  const mailed = (await mailsOf(world, sent)).find(
    ({ kind, to }) => kind === "code" && to.email === person.email,
  )?.code;
  const code = target.n < 2 ? (handed.body.code ?? mailed) : "000000";
  await call(world, "/v1/signing/otp/verify", { key, json: { code: code ?? "111111" } });
}

async function submit(world: World, sent: Sent, target: Target): Promise<void> {
  const bearer = await bearerOf(world, sent, target);
  if (bearer === undefined) return;
  const key = { bearer };
  const document = await call(world, "/v1/signing/document", { key });
  const session = await call(world, "/v1/signing/session", { key });
  if (document.status !== 200 || session.status !== 200) return;
  const { consent, recipient, attachments } = SigningView.parse(session.body);
  const tenant = recipient.role === "Tenant";
  const json = {
    documentSha256: z.object({ etag: z.string() }).parse(document.body).etag.replaceAll('"', ""),
    fields: tenant ? { city: "Zürich", months: 24, card: attachments.slice(0, 2).map(({ id }) => id) } : {},
    signature: tenant ? drawn : typed,
    consent: { accepted: true, version: consent.version, locale: consent.locale },
    timeZone: "Europe/Zurich",
  };
  await call(world, "/v1/signing/submit", { key, json });
}

async function openAsViewer(world: World, sent: Sent, { n }: Target): Promise<void> {
  const links = (await mailsOf(world, sent)).filter(({ kind }) => kind.startsWith("viewer_"));
  const link = links[n % Math.max(1, links.length)]?.link;
  if (!link) return;
  const json = { token: new URL(link).hash.slice(1) };
  const { status, body } = await call(world, "/v1/viewer/exchange", { key: null, json });
  if (status === 200) sent.viewer = z.object({ accessToken: z.string() }).parse(body).accessToken;
}

type Act = (world: World, sent: Sent, target: Target) => Promise<unknown>;
const acts = {
  dryRun: (world, { asked: { key }, input }) => call(world, "/v1/envelopes?dry_run=true", { key, json: input }),
  dedupe: (world, { asked: { key }, input }) => call(world, "/v1/envelopes", { key, json: input }),
  void: (world, { id, asked: { key } }, { n }) =>
    call(world, `/v1/envelopes/${id}/void`, { key, json: { reason: "A mistake", notify: n < 3 } }),
  addViewer: (world, { id, asked: { key } }, { n }) =>
    call(world, `/v1/envelopes/${id}/viewers`, { key, json: { viewers: [{ email: `viewer${n}.${id}@example.org` }] } }),
  async revokeViewer(world, sent, { n }) {
    const { viewers } = await envelopeNow(world, sent);
    const viewer = viewers[n % Math.max(1, viewers.length)];
    if (viewer)
      await call(world, `/v1/envelopes/${sent.id}/viewers/${viewer.id}`, { key: sent.asked.key, method: "DELETE" });
  },
  openAsViewer,
  async viewAsViewer(world, sent, target) {
    if (sent.viewer === null) await openAsViewer(world, sent, target);
    if (sent.viewer === null) return;
    const key = { bearer: sent.viewer };
    await call(world, "/v1/viewer/envelope", { key });
    await call(world, "/v1/viewer/document", { key });
  },
  async resend(world, sent, target) {
    const person = await personOf(world, sent, target);
    const path = `/v1/envelopes/${sent.id}/recipients/${person?.id}/resend`;
    await call(world, path, { key: sent.asked.key, method: "POST" });
  },
  async freshLink(world, sent) {
    const link = (await mailsOf(world, sent)).findLast(({ kind }) => kind === "signing_request")?.link;
    const json = { token: link && new URL(link).hash.slice(1) };
    if (link) await call(world, "/v1/signing/fresh-link", { key: null, json });
  },
  mint,
  open,
  async view(world, sent, target) {
    const bearer = await bearerOf(world, sent, target);
    if (bearer === undefined) return;
    await call(world, "/v1/signing/session", { key: { bearer } });
    await call(world, "/v1/signing/document", { key: { bearer } });
  },
  verify,
  async attach(world, sent, target) {
    await verify(world, sent, { ...target, n: 0 });
    const bearer = await bearerOf(world, sent, target);
    if (bearer === undefined) return;
    const form = new FormData();
    form.append("field", "card");
    form.append("file", new Blob([new Uint8Array(png(30, 20))], { type: "image/png" }), "card.png");
    await call(world, "/v1/signing/attachments", { key: { bearer }, body: form });
  },
  submit,
  /** From the link, or from a minted session, to the signature. */
  async sign(world, sent, target) {
    const bearer = (await open(world, sent, target)) ?? (await mint(world, sent, target));
    if (bearer === undefined) return;
    await call(world, "/v1/signing/session", { key: { bearer } });
    await verify(world, sent, { ...target, n: 0 });
    await submit(world, sent, target);
  },
  async decline(world, sent, target) {
    await verify(world, sent, { ...target, n: 0 });
    const bearer = await bearerOf(world, sent, target);
    if (bearer) await call(world, "/v1/signing/decline", { key: { bearer }, json: { reason: "No" } });
  },
  async reassign(world, sent, target) {
    await verify(world, sent, { ...target, n: 0 });
    const bearer = await bearerOf(world, sent, target);
    if (bearer === undefined) return;
    const json = { name: "Cleo", email: `cleo${target.n}.${sent.id}@example.org`, reason: "On leave" };
    await call(world, "/v1/signing/reassign", { key: { bearer }, json });
  },
  /** Where there are reminders in half days, so that none of the days on which they are due goes by unseen. */
  async days(world, _, { n }) {
    const parts = world.sent.every(({ asked }) => asked.reminders === null) ? 1 : 2 * (n + 1);
    for (let part = 0; part < parts; part += 1) {
      world.clock.advance(((n + 1) * 24 * hourMs) / parts);
      await settle(world);
    }
  },
  async hours(world, _, { n }) {
    world.clock.advance((n + 1) * hourMs);
  },
  async hold(world, { id }, { n }) {
    const path = `/auth/envelopes/${id}/hold`;
    await (n < 2 ? world.owner("PUT", path, { reason: "An inquiry" }) : world.owner("DELETE", path));
  },
  /** A shorter term acts a day later. */
  async retention(world, sent, target) {
    const { n } = target;
    await world.owner("PATCH", "/auth/organization/retention", { keepDays: n === 0 ? null : n });
    await acts.days(world, sent, { ...target, n: 0 });
    world.clock.advance(hourMs);
    await runNow(world.app);
  },
  deleteDue: ({ app }) => runNow(app),
  retry: (world, { id }) => world.owner("POST", `/auth/envelopes/${id}/retry`),
  async download(world, { id, asked: { key } }) {
    for (const path of ["", "/events"]) await call(world, `/v1/envelopes/${id}${path}`, { key });
    for (const version of ["original", "current", "sealed", "certificate"])
      await call(world, `/v1/envelopes/${id}/document?version=${version}`, { key });
    await call(world, `/v1/envelopes/${id}/evidence`, { key });
  },
  async office({ owner, number }, _, { n }) {
    const email = `colleague.${number}@example.org`;
    if (n === 0) await owner("PATCH", "/auth/organization", { name: `Example ${number}` });
    if (n === 1) await owner("POST", "/auth/organization/invitations", { email, role: "member" });
    if (n > 1) {
      const { body } = await owner("POST", "/v1/api-keys", { name: "A key", mode: "live" });
      if (n === 2) await owner("DELETE", `/v1/api-keys/${body.id}`);
    }
  },
  /** A new version, of which later sequences send; a template that is thrown away; one in use, whose deletion is refused. */
  async template(world, { asked }, { n }) {
    const of = `/v1/templates/${world.published[asked.template]}`;
    if (n === 0) {
      const { content, roles, variables, settings } = z
        .looseObject({ content: z.unknown(), roles: z.unknown(), variables: z.unknown(), settings: z.unknown() })
        .parse((await ok(world.app, 200, `${of}/versions/latest`)).body);
      await ok(world.app, 200, `${of}/draft`, { method: "PUT", json: { content, roles, variables, settings } });
      await ok(world.app, 201, `${of}/publish`, { method: "POST" });
    } else if (n === 1) {
      const { body } = await ok(world.app, 201, "/v1/templates", { json: { name: `Sequence ${world.number}` } });
      const { id } = z.object({ id: z.string() }).parse(body);
      const headers = { "content-type": "application/pdf" };
      await ok(world.app, 201, `/v1/templates/${id}/files`, { body: Buffer.from(await samplePdf()), headers });
      await call(world, `/v1/templates/${id}`, { method: "DELETE" });
    } else {
      await call(world, of, { method: "DELETE" });
    }
  },
  async keys({ app: { deps } }, _, { n }) {
    if (n === 0) await anchorNow(deps);
    if (n === 1) await rotateKey(deps, { use: "anchor" });
    if (n === 2) await rotateKey(deps, { use: "timestamp" });
    if (n === 3) await rotateKey(deps, { use: "seal", fresh: { kind: "ec-p256" } });
  },
} satisfies Record<string, Act>;
