import { expect, test } from "vitest";
import { atShare } from "../../../server/features/evidence/anchors/share.ts";

test("what did not get its turn in time is never begun, and once the share answers acts go on in their order", async () => {
  const hanging = Promise.withResolvers<string>();
  const done: string[] = [];
  const act = (name: string) => atShare("/share", async () => done.push(name));
  const first = atShare("/share", () => hanging.promise);
  const second = act("second");
  await Promise.all([first, second].map((one) => expect(one).rejects.toThrow("does not answer")));
  const [third, fourth] = [act("third"), act("fourth")];
  expect(await atShare("/elsewhere", async () => "at once")).toBe("at once");
  hanging.resolve("late");
  await Promise.all([third, fourth]);
  expect(done).toEqual(["third", "fourth"]);
  await expect(atShare("/share", () => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  await act("last");
  expect(done).toEqual(["third", "fourth", "last"]);
});
