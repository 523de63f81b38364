import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { planRefusal, plans } from "../../../server/features/envelopes/plan.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { createEnvelope, envelopeInput, problemOf, publishTemplate, sentEnvelope } from "../../harness/envelopes.ts";

const viewers = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ email: `viewer${index}@example.com` }));

describe("what a plan includes", () => {
  it("counts viewers and hides the document as the table of plans says", () => {
    const most = { free: 1, pay_as_you_go: 2, team: 5, business: 20 } as const;
    for (const [name, count] of Object.entries(most)) {
      const plan = plans[name as keyof typeof most];
      expect(planRefusal(plan, { viewers: count, viewerDocumentAccess: false })).toBeUndefined();
      expect(planRefusal(plan, { viewers: count + 1, viewerDocumentAccess: false })).toContain("viewersPerEnvelope");
    }
    expect(planRefusal(plans.platform, { viewers: 100, viewerDocumentAccess: true })).toBeUndefined();
    expect(planRefusal(plans.free, { viewers: 0, viewerDocumentAccess: true })).toContain("viewerDocumentAccess");
    expect(planRefusal(plans.team, { viewers: 0, viewerDocumentAccess: true })).toBeUndefined();
  });
});

describe("an organization on the Free plan", () => {
  let appliance: TestAppliance;
  let template: string;
  beforeAll(async () => {
    appliance = await startAppliance({ env: { SIGNET_PLAN: "free" } });
    template = await publishTemplate(appliance);
  });
  afterAll(() => appliance.stop());

  it("is offered an upgrade for more viewers and for showing them the document, in both modes", async () => {
    for (const key of ["live", "test"] as const) {
      for (const more of [{ viewers: viewers(2) }, { viewerDocumentAccess: true }]) {
        const problem = await problemOf(appliance, "/v1/envelopes", { key, json: envelopeInput(template, more) });
        expect(problem).toMatchObject({ status: 403, code: "plan-upgrade-required" });
        expect(problem.upgradeUrl).toMatch(/^http/);
      }
    }
    const { id } = await sentEnvelope(appliance, template, { viewers: viewers(1) });
    const problem = await problemOf(appliance, `/v1/envelopes/${id}/viewers`, {
      json: { viewers: [{ email: "more@example.com" }] },
    });
    expect(problem).toMatchObject({ status: 403, code: "plan-upgrade-required" });
    // Asking again for the one who is there already needs no upgrade.
    expect((await appliance.call(`/v1/envelopes/${id}/viewers`, { json: { viewers: viewers(1) } })).status).toBe(200);
  });

  it("stops sending when the included envelopes of the month are completed, in live mode only", async () => {
    const made = await Promise.all(Array.from({ length: 100 }, () => createEnvelope(appliance, template)));
    const { db, clock } = appliance.deps;
    const complete = (ids: string[]) =>
      db.tx((tx) => tx.updateTable("envelopes").set({ completed_at: clock.ts() }).where("id", "in", ids).execute());
    const ids = made.map(({ id }) => id);
    await complete(ids.slice(1));
    await createEnvelope(appliance, template);
    await complete(ids.slice(0, 1));
    const json = envelopeInput(template);
    expect(await problemOf(appliance, "/v1/envelopes", { json })).toMatchObject({
      status: 402,
      code: "payment-required",
    });
    expect(await problemOf(appliance, "/v1/envelopes?dry_run=true", { json })).toMatchObject({ status: 402 });
    expect((await appliance.call("/v1/envelopes", { key: "test", json })).status).toBe(201);
  });
});
