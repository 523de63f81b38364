import { userInfo } from "node:os";
import { expect, test } from "vitest";
import { operatorName } from "../../server/kernel/operator-name.ts";

test("the person who logged in is named, also behind sudo and as another user", () => {
  const own = userInfo().username;
  // Every Debian has this user under this number.
  expect(operatorName({}, 2)).toBe("bin");
  expect(operatorName({ SUDO_USER: "ada" }, 2)).toBe("bin");
  expect(operatorName({ SUDO_USER: "ada" }, null)).toBe("ada");
  expect(operatorName({ SUDO_USER: "" }, null)).toBe(own);
  expect(operatorName({}, null)).toBe(own);
  expect(operatorName({}, userInfo().uid)).toBe(own);
  expect(operatorName({}, 3_999_999_999)).toBe(own);
});
