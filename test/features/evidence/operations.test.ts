import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { AuditType } from "../../../server/features/envelopes/audit-contract.ts";
import { collect, type FsckReport } from "../../../server/features/evidence/findings.ts";
import { checkActs } from "../../../server/features/evidence/fsck/acts.ts";
import { checkEnvelope, readTrust } from "../../../server/features/evidence/fsck/envelopes.ts";
import { fsck } from "../../../server/features/evidence/fsck/fsck.ts";
import { checkQueue } from "../../../server/features/evidence/fsck/work.ts";
import { rotateKey } from "../../../server/features/keys/ceremony.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { tickingClock } from "../../harness/clock.ts";
import { endAll, sequences, take } from "./operations-acts.ts";
import { begin, type Clock, mailsOf, publishAll, type Sent, trailNow, type World } from "./operations-world.ts";

/**
 * Whatever people and time ordinarily do, in whatever order, `fsck` calls the folder whole, and everybody whose turn lasts is
 * reminded as often as was asked for. The clock goes on with every reading, so that two readings for one moment are found.
 */

const full = process.env.SIGNET_TEST_FULL === "1";
const seed = Number(process.env.SIGNET_TEST_SEED ?? 20261121);
const rounds = Number(process.env.SIGNET_TEST_ROUNDS ?? (full ? 5000 : 40));
/** After so many a new folder is begun: certificates do not last for ever, and a whole check reads everything. */
const perFolder = 100;
const perStart = 25;

/** What nothing writes yet, and what is no ordinary thing to happen. */
const missing = /^(signing_link|webhook|acceptance)\.|downloaded$|locked$|(delivery|seal)_(failed|extended)$/;
const everything = AuditType.options.filter((type) => !missing.test(type));
const happened = new Set<string>();

type Place = { app: TestAppliance; clock: Clock; published: World["published"]; used: number };
let place: Place | undefined;
afterAll(() => place?.app.stop());

async function nextPlace(): Promise<Place> {
  if (place !== undefined && place.used < perFolder) {
    if (place.used % perStart === 0) await place.app.restart();
    return place;
  }
  await closePlace();
  const clock = tickingClock();
  const app = await startAppliance({ clock });
  await rotateKey(app.deps, { use: "seal", fresh: { kind: "ec-p256" } });
  place = { app, clock, published: await publishAll(app), used: 0 };
  return place;
}

async function closePlace(): Promise<void> {
  if (place === undefined) return;
  const { app } = place;
  place = undefined;
  try {
    expect(await fsck(app.deps)).toMatchObject({ ok: true, problems: [] });
    const types = await app.deps.db.read.selectFrom("audit_entries").select("type").distinct().execute();
    for (const { type } of types) happened.add(type);
  } finally {
    await app.stop();
  }
}

/** What a whole check would say of these envelopes, the acts and the queue. */
async function problemsOf({ app: { deps }, sent }: World): Promise<FsckReport["problems"]> {
  const report: FsckReport = { ok: true, checked: {}, problems: [], notes: [] };
  const { findings, into } = collect();
  const trust = await readTrust(deps);
  for (const { id } of sent) await checkEnvelope(deps, findings, id, trust);
  await checkActs(deps, findings);
  await checkQueue(deps, findings);
  into(report);
  return report.problems;
}

type Turn = { recipient: string; from: number; until: number };

/** When which signer was to be reminded: from being asked by mail, or taking over, to the end of it. */
async function turnsOf(world: World, sent: Sent): Promise<Turn[]> {
  const entries = await trailNow(world, sent);
  const end = Math.min(
    ...entries.filter(({ type }) => /^envelope\.(voided|declined|expired)$/.test(type)).map(({ at }) => Date.parse(at)),
    sent.expiresAt,
  );
  const turns: Turn[] = [];
  for (const { type, at, data } of entries) {
    const now = Date.parse(at);
    const open = turns.find(({ recipient, until }) => recipient === data.recipient && until > now);
    if (open && /^recipient\.(reassigned|signed)$/.test(type)) open.until = now;
    const asked = type === "recipient.sent" && data.delivery === "email" && data.role !== "Agency";
    if (asked || type === "recipient.reassigned")
      turns.push({ recipient: String(data.recipient), from: now, until: end });
  }
  return turns;
}

/** As many as the settings promise for a turn of this length, given when the queue was looked at. */
function promised({ from, until }: Turn, { asked: { reminders } }: Sent, settled: readonly number[]) {
  if (reminders === null) return { least: 0, most: 0 };
  const { firstAfterDays, everyDays, max } = reminders;
  const dayMs = 86_400_000;
  const due = Array.from(
    { length: everyDays === null ? 1 : max },
    (_, index) => from + (firstAfterDays + index * (everyDays ?? 0)) * dayMs,
  );
  const seen = Math.max(...settled.filter((at) => at < until));
  return { least: due.filter((at) => at <= seen).length, most: due.filter((at) => at <= until).length };
}

async function checkReminders(world: World): Promise<void> {
  for (const sent of world.sent) {
    const reminded = (await trailNow(world, sent)).filter(({ type }) => type === "recipient.reminded");
    for (const turn of await turnsOf(world, sent)) {
      const { least, most } = promised(turn, sent, world.settled);
      const own = reminded.filter(({ at, data }) => {
        const then = Date.parse(at);
        return data.recipient === turn.recipient && then >= turn.from && then <= turn.until;
      });
      expect(own.length, `reminders of ${JSON.stringify(turn)}, at least`).toBeGreaterThanOrEqual(least);
      expect(own.length, `reminders of ${JSON.stringify(turn)}, at most`).toBeLessThanOrEqual(most);
    }
    const mails = (await mailsOf(world, sent)).filter(({ kind }) => kind === "reminder");
    expect(mails).toHaveLength(reminded.length);
  }
}

test(`after ${rounds} random sequences of ordinary operations the folder is whole and nobody's reminder is lost (seed ${seed})`, {
  timeout: full ? 7_200_000 : 1_200_000,
}, async () => {
  let number = 0;
  await fc.assert(
    fc.asyncProperty(sequences(), async ({ envelopes, steps }) => {
      const at = await nextPlace();
      at.used += 1;
      number += 1;
      const world = await begin({ ...at, number }, envelopes);
      for (const step of steps) await take(world, step);
      expect(await problemsOf(world)).toEqual([]);
      await checkReminders(world);
      await endAll(world);
      expect(await problemsOf(world)).toEqual([]);
    }),
    { numRuns: rounds, seed, interruptAfterTimeLimit: full ? 7_000_000 : 1_100_000, markInterruptAsFailure: true },
  );
  await closePlace();
  // Whatever was refused all the time was not tried.
  if (rounds >= 200) expect([...happened]).toEqual(expect.arrayContaining(everything));
});
