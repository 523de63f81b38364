import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadEnvelope } from "../../../server/features/envelopes/progress.ts";
import { authenticateSigner } from "../../../server/features/signing/authenticate.ts";
import { SubmitSigning } from "../../../server/features/signing/contract.ts";
import { decline } from "../../../server/features/signing/decline.ts";
import { reassign } from "../../../server/features/signing/reassign.ts";
import { submissionsOf } from "../../../server/features/signing/service.ts";
import { submit } from "../../../server/features/signing/submit.ts";
import type { Deps } from "../../../server/kernel/deps.ts";
import type { RequestInfo } from "../../../server/kernel/request.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";
import { auditOf, enter, envelopeOf, publishTemplate, recipientOf, send, submission } from "./flow.ts";

const request: RequestInfo = {
  requestId: "req_1",
  ip: "192.0.2.1",
  userAgent: "test",
  header: () => null,
  signal: new AbortController().signal,
  stillAllowed: async () => true,
  remember: null,
};
const to = { name: "Nina Neu", email: "nina@example.com", reason: "She signs for the firm." };
let app: TestAppliance;
let template: string;

beforeAll(async () => {
  app = await startAppliance();
  template = await publishTemplate(app, { settings: { allowReassign: true } });
});
afterAll(async () => app.stop());

/** The same appliance, where something else commits between a use case's reads and its transaction. */
function interrupted(deps: Deps, first: () => Promise<void>): Deps {
  let done: Promise<void> | undefined;
  return {
    ...deps,
    db: {
      ...deps.db,
      async tx(fn) {
        done ??= first();
        await done;
        return deps.db.tx(fn);
      },
    },
  };
}

async function opened(email: string, verification: "none" | "email_otp") {
  const { id } = await send(app, template, { tenant: { email, verification } });
  const bearer = await enter(app, email);
  const input = SubmitSigning.parse(await submission(app, bearer));
  return { id, input, caller: await authenticateSigner(app.deps, `Bearer ${bearer}`, request) };
}

async function untouched(id: string): Promise<void> {
  const envelope = await envelopeOf(app, id);
  expect(envelope.status).toBe("sent");
  expect(recipientOf(envelope, "Tenant")).toMatchObject({ name: to.name, completedAt: null, declinedAt: null });
  expect(await submissionsOf(app.deps.db.read, id)).toEqual([]);
  const types = (await auditOf(app, id)).data.map(({ type }) => type);
  expect(types).not.toContain("recipient.consented");
  expect(types).not.toContain("recipient.declined");
}

describe("passing on while the old person", () => {
  test.each(["none", "email_otp"] as const)("signs, verification %s: nobody has signed", async (verification) => {
    const { id, input, caller } = await opened(`sign-${verification}@example.com`, verification);
    const racing = interrupted(app.deps, () => reassign(app.deps, caller, to, request));
    await expect(submit(racing, caller, input, request)).rejects.toMatchObject({ code: "token-invalid" });
    await untouched(id);
  });

  test("declines: nobody has declined", async () => {
    const { id, caller } = await opened("decline@example.com", "none");
    const racing = interrupted(app.deps, () => reassign(app.deps, caller, to, request));
    await expect(decline(racing, caller, "No", request)).rejects.toMatchObject({ code: "token-invalid" });
    await untouched(id);
  });
});

test("a signature carries one time in everything that it writes", async () => {
  const { id, input, caller } = await opened("once@example.com", "none");
  let ms = app.deps.clock.now();
  const now = () => {
    ms += 1;
    return ms;
  };
  const ticking = { ...app.deps, clock: { now, ts: () => new Date(now()).toISOString() } };
  const { at } = await submit(ticking, caller, input, request);
  const record = await loadEnvelope(app.deps.db.read, id);
  const tenant = record?.recipients.find(({ role }) => role === "Tenant");
  expect(tenant?.completed_at).toBe(at);
  expect(JSON.parse(tenant?.values ?? "{}")).toMatchObject({ "tenant-sign": { signedAt: at } });
  expect(await submissionsOf(app.deps.db.read, id)).toMatchObject([{ at }]);
  const trail = (await auditOf(app, id)).data.filter(
    ({ type }) => type === "recipient.consented" || type === "recipient.signed",
  );
  expect(trail.map((entry) => entry.at)).toEqual([at, at]);
});
