import { once } from "node:events";
import { stat } from "node:fs/promises";
import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { operatorOf } from "../../../server/features/appliance/authenticate.ts";
import { getStatus } from "../../../server/features/appliance/status-contract.ts";
import { listOperatorAudit } from "../../../server/features/operators/contract.ts";
import { checkOperatorChain, recordOperatorAct } from "../../../server/features/operators/service.ts";
import { NoAppliance } from "../../../server/local-client.ts";
import { localEndpoints } from "../../../server/local-contract.ts";
import { administrator } from "../../harness/admin.ts";
import { startAppliance, type TestAppliance } from "../../harness/appliance.ts";

let app: TestAppliance;
beforeAll(async () => {
  app = await startAppliance();
});
afterAll(() => app.stop());

test("the socket tells how the appliance is, and only its owner and group may open it", async () => {
  const status = await administrator(app).call(getStatus, {});
  expect(status).toMatchObject({ url: app.url, dataDir: app.folder, queue: { dead: 0 } });
  const { mode } = await stat(app.config.adminSocket);
  expect((mode & 0o777).toString(8)).toBe("660");
});

test("nothing of it is mounted on TCP or published", async () => {
  const cookie = await app.signIn();
  for (const { method, path } of localEndpoints) {
    const target = path.replaceAll(/\{\w+\}/g, "x");
    const response = await app.call(target, { method, headers: { cookie, origin: new URL(app.url).origin } });
    expect([method, path, response.status]).toEqual([method, path, 404]);
  }
  const document = await (await app.call("/openapi.json")).text();
  expect(document).not.toContain("/local/");
});

test("operations of the network are not on the socket; metrics are, without a token", async () => {
  const get = async (path: string) => {
    const call = request({ socketPath: app.config.adminSocket, path, agent: false }).end();
    const [response] = await once(call, "response");
    let text = "";
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode, text };
  };
  expect((await get("/v1/envelopes")).status).toBe(404);
  expect((await get("/healthz")).status).toBe(200);
  const metrics = await get("/metrics");
  expect(metrics.status).toBe(200);
  expect(metrics.text).toContain("# HELP");
});

test("what operators do stands in one chain that nobody can change", async () => {
  const { db } = app.deps;
  const { actor } = operatorOf({ header: () => "ada\nlovelace" });
  expect(actor).toEqual({ type: "operator", id: null, name: "adalovelace", email: null });
  for (const action of ["clock.accepted", "mail.tested", "work.retried"] as const)
    await db.tx((tx) => recordOperatorAct(tx, app.deps, { actor, action, data: { count: 1 } }));
  const admin = administrator(app);
  const page = await admin.call(listOperatorAudit, { query: { limit: 2 } });
  expect(page).toMatchObject({ hasMore: true, verification: { valid: true } });
  expect(page.data.map(({ action }) => action)).toEqual(["work.retried", "mail.tested"]);
  const rest = await admin.call(listOperatorAudit, { query: { limit: 200, before: page.data[1]?.seq } });
  expect(rest.data[0]).toMatchObject({ action: "clock.accepted", actor });
  await expect(
    db.tx((tx) => tx.updateTable("operator_audit").set({ action: "nothing" }).where("seq", "=", 1).execute()),
  ).rejects.toThrow("append-only");
  await expect(db.tx((tx) => tx.deleteFrom("operator_audit").execute())).rejects.toThrow("append-only");
  await db.tx((tx) =>
    tx
      .insertInto("operator_audit")
      .values({
        seq: page.verification.length + 1,
        at: app.deps.clock.ts(),
        actor: JSON.stringify(actor),
        action: "forged",
        target: null,
        data: "{}",
        prev_hash: page.verification.headHash,
        hash: "0".repeat(64),
      })
      .execute(),
  );
  expect(await checkOperatorChain(db.read)).toMatchObject({ valid: false, brokenAtSeq: page.verification.length + 1 });
});

test("without a running appliance the client says so", async () => {
  const other = await startAppliance();
  const admin = administrator(other);
  await other.restart();
  expect((await admin.call(getStatus, {})).url).toBe(other.url);
  await other.stop();
  await expect(admin.call(getStatus, {})).rejects.toThrow(NoAppliance);
});
