import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { checkSignature, type Pasted } from "../../apps/dashboard/src/features/webhooks/check.ts";

const body = '{"id":"evt_000000000000000000000001","type":"webhook.test"}';
const vector: Pasted = {
  secret: "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
  id: "evt_000000000000000000000001",
  timestamp: "1795252800",
  signature: "v1,xw4cUngyZW7yVS3vs7iNZZUjmnpi5ZrDJH86IdBFZWw=",
  body,
};
const at = 1_795_252_800_000;
const minute = 60_000;
const check = (change: Partial<Pasted>, now = at) => checkSignature({ ...vector, ...change }, now);

describe("a signature", () => {
  test.each<[string, Partial<Pasted>]>([
    ["as it is", {}],
    [
      "with the names of the headers",
      { id: `webhook-id: ${vector.id}`, signature: `Webhook-Signature: ${vector.signature}` },
    ],
    [
      "behind that of another secret and another version",
      { signature: `v1,${"A".repeat(43)}= v2,x ${vector.signature}` },
    ],
    ["with spaces around what was pasted", { secret: ` ${vector.secret}\n`, timestamp: " 1795252800 " }],
  ])("is valid %s", (_, change) => expect(check(change)).toEqual({ kind: "valid" }));

  test("counts for five minutes", () => {
    expect(check({}, at + 5 * minute)).toEqual({ kind: "valid" });
    expect(check({}, at + 5 * minute + 1)).toEqual({ kind: "old", at });
    expect(check({}, at - 5 * minute)).toEqual({ kind: "valid" });
    expect(check({}, at - 5 * minute - 1)).toEqual({ kind: "early", at });
  });

  test("covers every character of the body", () => {
    expect(check({ body: body.replace("test", "tent") })).toEqual({ kind: "mismatch" });
    expect(check({ body: `${body}\n` })).toEqual({ kind: "changed", how: "space" });
    expect(check({ body: JSON.stringify(JSON.parse(body), null, 2) })).toEqual({ kind: "changed", how: "format" });
    expect(check({ body: "not JSON" })).toEqual({ kind: "mismatch" });
    const other = "evt_000000000000000000000002";
    expect(check({ body: body.replace(vector.id, other) })).toEqual({
      kind: "other-id",
      body: other,
      header: vector.id,
    });
  });

  test("covers id and timestamp, and is made with one secret", () => {
    expect(check({ timestamp: "1795252801" })).toEqual({ kind: "mismatch" });
    expect(check({ secret: `whsec_${Buffer.alloc(32, 7).toString("base64")}` })).toEqual({ kind: "mismatch" });
    const letters = '{"name":"Žofie"}';
    const key = Buffer.from(vector.secret.slice(6), "base64");
    const made = createHmac("sha256", key).update(`${vector.id}.${vector.timestamp}.${letters}`).digest("base64");
    expect(check({ body: letters, signature: `v1,${made}` })).toEqual({ kind: "valid" });
  });

  test.each<[keyof Pasted, string, string]>([
    ["secret", "", "required"],
    ["id", "webhook-id:", "required"],
    ["timestamp", " ", "required"],
    ["signature", "", "required"],
    ["body", "", "required"],
    ["secret", vector.secret.slice(6), "badSecret"],
    ["secret", "whsec_AAEC", "badSecret"],
    ["secret", `${vector.secret}x`, "badSecret"],
    ["timestamp", "21 November", "badTimestamp"],
    ["timestamp", "1795252800000", "milliseconds"],
    ["signature", vector.signature.slice(3), "noV1"],
    ["signature", "v1a,xx v2,yy", "noV1"],
    ["signature", "v1,xw4c", "badSignature"],
    ["signature", "v1,***", "badSignature"],
  ])("whose %s is “%s” cannot be checked: %s", (field, text, problem) =>
    expect(check({ [field]: text })).toEqual({ kind: "malformed", fields: [field], problem }),
  );

  test("all that is missing is named at once", () => {
    expect(check({ secret: "", body: "" })).toEqual({
      kind: "malformed",
      fields: ["secret", "body"],
      problem: "required",
    });
  });
});
