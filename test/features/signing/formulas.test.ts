import { afterAll, beforeAll, expect, test } from "vitest";
import { authenticateSigner } from "../../../server/features/signing/authenticate.ts";
import { SubmitSigning } from "../../../server/features/signing/contract.ts";
import { submit } from "../../../server/features/signing/submit.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import {
  box,
  enter,
  envelopeOf,
  interrupted,
  ok,
  publishTemplate,
  send,
  submission,
  visitor,
} from "../../harness/scenario.ts";

/** Formulas over the numbers of several people: two sign at the same time, a countersigner after them. */

const items = [
  { id: "rent", role: "Tenant", type: "number", ...box(1, 120) },
  { id: "both", role: "Tenant", type: "formula", expression: "rent + costs", ...box(1, 170) },
  { id: "tenant-sign", role: "Tenant", type: "signature", ...box(1, 220) },
  { id: "costs", role: "Landlord", type: "number", ...box(1, 320) },
  { id: "own", role: "Landlord", type: "formula", expression: "rent + costs", ...box(1, 370) },
  { id: "landlord-sign", role: "Landlord", type: "signature", ...box(1, 420) },
  { id: "fee", role: "Agent", type: "number", default: 50, readOnly: true, ...box(2, 120) },
  { id: "year", role: "Agent", type: "formula", expression: "(rent + costs) * 12 + fee", ...box(2, 170) },
  { id: "agent-sign", role: "Agent", type: "signature", ...box(2, 220) },
];
const roles = [
  { name: "Tenant", order: 1, verification: "none" },
  { name: "Landlord", order: 1, verification: "none" },
  {
    name: "Agent",
    kind: "countersigner",
    order: 2,
    countersigner: { name: "Agnes Agentur", email: "agnes@example.com" },
  },
];
let app: TestAppliance;
let template: string;
let people = 0;

beforeAll(async () => {
  app = await startAppliance();
  template = await publishTemplate(app, { items, roles });
});
afterAll(async () => app.stop());

/** An envelope that two people have open, each with what they will send. */
async function opened() {
  people += 1;
  const [tenant, landlord] = [`tenant${people}@example.org`, `landlord${people}@example.org`];
  const { id } = await send(app, template, {
    envelope: {
      recipients: [
        { role: "Tenant", name: "Ada Muster", email: tenant },
        { role: "Landlord", name: "Ben Beispiel", email: landlord },
      ],
    },
  });
  const of = async (email: string, fields: Record<string, number>) => {
    const bearer = await enter(app, email);
    const caller = await authenticateSigner(app.deps, `Bearer ${bearer}`, visitor);
    return { bearer, caller, input: SubmitSigning.parse(await submission(app, bearer, { fields })) };
  };
  return { id, tenant: await of(tenant, { rent: 1000 }), landlord: await of(landlord, { costs: 200 }) };
}

const valuesOf = async (id: string) => (await envelopeOf(app, id)).values?.recipients;

test("who signs while another's signature is taken counts that one's numbers: it comes first in the record", async () => {
  const { id, tenant, landlord } = await opened();
  const racing = interrupted(app.deps, () => submit(app.deps, landlord.caller, landlord.input, visitor));
  await submit(racing, tenant.caller, tenant.input, visitor);
  expect(await valuesOf(id)).toMatchObject({ Tenant: { rent: 1000, both: 1200 }, Landlord: { costs: 200 } });
  expect((await valuesOf(id))?.Landlord).not.toHaveProperty("own");
});

test("a formula is final with its signature, and a countersigner's counts everybody's numbers", async () => {
  const { id, tenant, landlord } = await opened();
  for (const { bearer, input } of [tenant, landlord]) {
    await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: input });
  }
  await app.jobs.idle();
  const values = await valuesOf(id);
  expect(values).toMatchObject({ Landlord: { costs: 200, own: 1200 }, Agent: { fee: 50, year: 14_450 } });
  expect(values?.Tenant).not.toHaveProperty("both");
  expect((await envelopeOf(app, id)).status).toBe("completed");
});
