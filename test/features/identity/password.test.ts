import { expect, test } from "vitest";
import { hashPassword, verifyPassword } from "../../../server/features/identity/password.ts";

test("a password verifies against its own hash only, whatever its Unicode form", async () => {
  const hash = await hashPassword("Grüße aus Zürich 12");
  expect(hash).toMatch(/^scrypt\$131072\$8\$1\$/);
  expect(await hashPassword("Grüße aus Zürich 12")).not.toBe(hash);
  expect(await verifyPassword("Grüße aus Zürich 12".normalize("NFD"), hash)).toBe(true);
  expect(await verifyPassword("Grüße aus Zürich 13", hash)).toBe(false);
  expect(await verifyPassword("Grüße aus Zürich 12", "scrypt$broken")).toBe(false);
});
