import fc from "fast-check";
import { z } from "zod";
import { auditTrail } from "../../../server/features/envelopes/audit.ts";
import { loadEnvelope } from "../../../server/features/envelopes/progress.ts";
import { listMail } from "../../../server/features/mail/service.ts";
import type { CallOptions, TestAppliance } from "../../harness/appliance.ts";
import type { tickingClock } from "../../harness/clock.ts";
import { browser } from "../../harness/people.ts";
import { items, ok, publishTemplate } from "../../harness/scenario.ts";

/** The envelopes that a sequence of ordinary operations begins with, and what is known of them. */

export type Clock = ReturnType<typeof tickingClock>;
type Template = keyof typeof templates;
type Verification = "none" | "email_otp" | "operator_delivered";

export const hourMs = 3_600_000;
const sign = (role: string, y: number) => ({
  id: `${role}-sign`,
  role,
  type: "signature",
  page: 2,
  x: 60,
  y,
  width: 200,
  height: 40,
});
const signer = (name: string, order: number) => ({ name, order, verification: "none" });
const templates = {
  turns: { roles: [signer("Tenant", 1), signer("Landlord", 2)], items },
  together: { roles: [signer("Tenant", 1), signer("Landlord", 1)], items },
  countersigned: {
    roles: [
      signer("Tenant", 1),
      {
        name: "Agency",
        kind: "countersigner",
        order: 2,
        verification: "none",
        countersigner: { name: "Agnes Agentur", email: "agnes@example.org" },
      },
    ],
    items: [...items.filter(({ role }) => role === "Tenant"), sign("Agency", 320)],
  },
};
const reminders = [
  null,
  { firstAfterDays: 1, everyDays: null, max: 1 },
  { firstAfterDays: 1, everyDays: 1, max: 3 },
  { firstAfterDays: 2, everyDays: 3, max: 2 },
];
export const asked = fc.record({
  template: fc.constantFrom<Template>("turns", "turns", "together", "countersigned"),
  key: fc.constantFrom<"live" | "test">("live", "live", "live", "test"),
  verification: fc.constantFrom<Verification>("none", "none", "email_otp", "operator_delivered"),
  delivery: fc.constantFrom("email", "email", "email", "embedded"),
  reminders: fc.constantFrom(...reminders),
  expiresInDays: fc.constantFrom(null, null, null, 2, 6),
  viewers: fc.nat(2),
  cc: fc.nat(1),
  viewerDocumentAccess: fc.boolean(),
});
export type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never;

/** An envelope of the sequence, and by what its people are known at present. */
export type Sent = {
  id: string;
  asked: Asked;
  input: object;
  /** Milliseconds since the epoch; infinite without an end. */
  expiresAt: number;
  /** Access tokens by recipient. */
  bearers: Map<string, string>;
  viewer: string | null;
};

/** One sequence on an appliance that other sequences have used before. */
export type World = {
  app: TestAppliance;
  clock: Clock;
  published: Record<Template, string>;
  /** The owner at the dashboard, who has just signed in. */
  owner: ReturnType<typeof browser>;
  number: number;
  sent: Sent[];
  /** When the queue was brought up to date. */
  settled: number[];
};

export async function publishAll(app: TestAppliance): Promise<World["published"]> {
  const settings = { allowReassign: true };
  const publish = (name: Template) => publishTemplate(app, { ...templates[name], settings });
  return {
    turns: await publish("turns"),
    together: await publish("together"),
    countersigned: await publish("countersigned"),
  };
}

/** Sends what the sequence begins with. Nothing of earlier ones is left to be done. */
export async function begin(
  { app, clock, published, number }: Pick<World, "app" | "clock" | "published" | "number">,
  envelopes: readonly Asked[],
): Promise<World> {
  // So that no limit of the sequence before counts.
  clock.advance(2 * hourMs);
  const owner: World["owner"] = async (...asked) => browser(app, await app.signIn())(...asked);
  const world: World = { app, clock, published, owner, number, sent: [], settled: [] };
  await owner("PATCH", "/auth/organization/retention", { keepDays: null });
  for (const [index, one] of envelopes.entries()) world.sent.push(await create(world, index, one));
  await settle(world);
  return world;
}

/** Lets everything be done that is due. */
export async function settle({ app, clock, settled }: World): Promise<void> {
  settled.push(clock.now());
  app.jobs.wake();
  await app.jobs.idle();
}

async function create({ app, clock, published, number }: World, index: number, one: Asked): Promise<Sent> {
  const address = (name: string) => `${name}.${number}.${index}@example.org`;
  const role = (name: string) => ({ role: name, name: `Ada ${name}`, email: address(name.toLowerCase()) });
  const people = (name: string, count: number) =>
    Array.from({ length: count }, (_, at) => ({ email: address(`${name}${at}`) }));
  const expiresAt =
    one.expiresInDays === null ? Number.POSITIVE_INFINITY : clock.now() + one.expiresInDays * 24 * hourMs;
  const input = {
    template: published[one.template],
    title: `Sequence ${number}`,
    recipients: [
      { ...role("Tenant"), verification: one.verification, delivery: one.delivery },
      ...(one.template === "countersigned" ? [] : [role("Landlord")]),
    ],
    reminders: one.reminders,
    viewers: people("viewer", one.viewers),
    cc: people("copy", one.cc),
    viewerDocumentAccess: one.viewerDocumentAccess,
    externalId: `sequence-${number}-${index}`,
    dedupeOn: "external_id",
    ...(one.expiresInDays === null ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
  };
  const { body } = await ok(app, 201, "/v1/envelopes", { json: input, key: one.key });
  const { id } = z.object({ id: z.string() }).parse(body);
  return { id, asked: one, input, expiresAt, bearers: new Map(), viewer: null };
}

/** A call of anybody: refused or not, but never a fault of the server. */
export async function call(
  world: World,
  path: string,
  options: CallOptions = {},
): Promise<{ status: number; body: unknown }> {
  const response = await world.app.call(path, options);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status >= 500) throw new Error(`${path} answered ${response.status}: ${bytes}`);
  const json = /json/.test(response.headers.get("content-type") ?? "");
  return {
    status: response.status,
    body: json ? JSON.parse(bytes.toString()) : { etag: response.headers.get("etag") },
  };
}

/** The envelope with its people, viewers who were revoked left out. */
export async function envelopeNow({ app }: World, { id }: Sent) {
  const record = await loadEnvelope(app.deps.db.read, id);
  if (record === undefined) throw new Error(`${id} is gone`);
  return record;
}

export async function trailNow({ app }: World, { id }: Sent) {
  return (await auditTrail(app.deps.db.read, id, app.deps.clock.ts())).entries;
}

export const mailsOf = ({ app }: World, { id }: Sent) => listMail(app.deps.db.read, app.deps, { envelope: id });
