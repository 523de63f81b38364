import { expect, onTestFinished, test } from "vitest";
import { waitFor } from "../../../server/commands/demo/main-job.ts";
import { createSelfTest } from "../../../server/features/update/self-test.ts";
import { startAppliance } from "../../harness/appliance.ts";

test("a release seals and reads its seal before it is trusted, and says which part it could not do", async () => {
  const app = await startAppliance();
  onTestFinished(() => app.stop());
  const result = async () => {
    const selfTest = createSelfTest(app.deps);
    return await waitFor("the end of the self-test", async () => selfTest.ask());
  };
  expect(await result()).toEqual([]);
  await app.deps.pool.close();
  expect(await result()).toMatchObject([{ part: "seal" }]);
});
