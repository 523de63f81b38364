import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { enter, ok, publishTemplate, send, submission } from "../harness/scenario.ts";
import { median } from "./median.ts";
import type { BenchResult } from "./seal.ts";

const queued = 100_000;
const rounds = 15;

/** Whether a long queue slows who signs: the same signatures on an appliance with an empty queue and on one with 100 000 jobs. */
export async function benchQueue(): Promise<BenchResult[]> {
  const sides = [await startAppliance(), await startAppliance()] as const;
  try {
    await fill(sides[1]);
    const roles = ["Tenant", "Landlord"].map((name, index) => ({ name, order: index + 1, verification: "none" }));
    const templates = [await publishTemplate(sides[0], { roles }), await publishTemplate(sides[1], { roles })];
    const submits: [number[], number[]] = [[], []];
    const invites: [number[], number[]] = [[], []];
    // Once before it counts.
    for (let round = -1; round < rounds; round += 1)
      for (const [index, app] of sides.entries()) {
        const [email, next] = [`ada${round}@example.com`, `ben${round}@example.com`];
        await send(app, templates[index] ?? "", {
          tenant: { email },
          envelope: {
            recipients: [
              { role: "Tenant", name: "Ada", email },
              { role: "Landlord", name: "Ben", email: next },
            ],
          },
        });
        const bearer = await enter(app, email);
        const json = await submission(app, bearer);
        const begun = performance.now();
        await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json });
        const submitted = performance.now();
        await app.jobs.idle();
        if (round < 0) continue;
        submits[index]?.push(submitted - begun);
        invites[index]?.push(performance.now() - submitted);
      }
    const row = (name: string, [none, all]: [number[], number[]]): BenchResult => ({
      name: `${name}: ${queued} jobs queued ÷ none`,
      ratio: median(all) / median(none),
      target: "≤ 1.5",
      detail: `${median(all).toFixed(1)} against ${median(none).toFixed(1)} ms`,
    });
    return [row("a signature is taken", submits), row("its jobs have run, the next signer is invited", invites)];
  } finally {
    for (const app of sides) await app.stop();
  }
}

/** Half of them due next year, in the queue of signing mails; half due now, in a queue that nothing moves. */
async function fill({ deps }: TestAppliance): Promise<void> {
  const now = deps.clock.now();
  const row = (index: number) => ({
    id: `job_bench${index}`,
    name: "mail.send",
    queue: index % 2 === 0 ? "mail" : "stuck",
    payload: JSON.stringify({ mail: `msg_bench${index}` }),
    subject: `msg_bench${index}`,
    run_at: index % 2 === 0 ? now + 365 * 86_400_000 + index : now - index,
    attempts: 0,
    status: "queued" as const,
    lease_until: null,
    lease_by: null,
    dedupe_key: null,
    last_error: null,
    created_at: now,
  });
  for (let at = 0; at < queued; at += 1000)
    await deps.db.tx(async (tx) => {
      const rows = Array.from({ length: 1000 }, (_, index) => row(at + index));
      await tx.insertInto("jobs").values(rows).execute();
    });
}
