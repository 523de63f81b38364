import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { decodeCursor, encodeCursor, pageOf } from "../../../server/kernel/cursor.ts";
import { AppError } from "../../../server/kernel/errors.ts";
import { openSecrets } from "../../../server/kernel/secrets.ts";

const secrets = openSecrets(randomBytes(32));
const place = { t: "2026-11-21T09:10:00.000Z", id: "env_000000000000000000000001" };

function refusal(cursor: string): unknown {
  try {
    return decodeCursor(secrets, "list", cursor);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { code: error.code, errors: error.options.errors?.map((entry) => ({ ...entry, detail: "" })) };
  }
}

describe("cursors", () => {
  it("come back as the place they were made from and stay within 200 characters", () => {
    const cursor = encodeCursor(secrets, "list", place);
    expect(cursor.length).toBeLessThanOrEqual(200);
    expect(decodeCursor(secrets, "list", cursor)).toEqual(place);
  });

  it("are refused after any change of any character", () => {
    const cursor = encodeCursor(secrets, "list", place);
    const refused = { code: "validation-failed", errors: [{ parameter: "cursor", code: "format", detail: "" }] };
    for (let i = 0; i < cursor.length; i++) {
      const changed = cursor.slice(0, i) + (cursor[i] === "A" ? "B" : "A") + cursor.slice(i + 1);
      expect(refusal(changed), changed).toEqual(refused);
      expect(refusal(cursor.slice(0, i)), "cut").toEqual(refused);
    }
    for (const bad of ["", "A", `${cursor}!`, `${cursor}=`, ` ${cursor}`, `${cursor}A`, "ä".repeat(50)]) {
      expect(refusal(bad), bad).toEqual(refused);
    }
    expect(() => decodeCursor(openSecrets(randomBytes(32)), "list", cursor)).toThrow(AppError);
  });

  it("are refused by another list", () => {
    expect(() => decodeCursor(secrets, "other", encodeCursor(secrets, "list", place))).toThrow(AppError);
  });

  it("end with the last page", () => {
    const rows = [1, 2, 3].map((n) => ({ t: "", id: String(n) }));
    const first = pageOf(
      secrets,
      "list",
      rows,
      2,
      (row) => row,
      ({ id }) => id,
    );
    expect(first).toMatchObject({ hasMore: true });
    expect(decodeCursor(secrets, "list", first.nextCursor ?? "")).toEqual({ t: "", id: "2" });
    expect(
      pageOf(
        secrets,
        "list",
        rows,
        3,
        (row) => row,
        ({ id }) => id,
      ),
    ).toEqual({
      data: ["1", "2", "3"],
      hasMore: false,
      nextCursor: null,
    });
    expect(pageOf(secrets, "list", [], 3, (row: { t: string; id: string }) => row, String).nextCursor).toBeNull();
  });
});
