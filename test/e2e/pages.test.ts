import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { locales } from "../../locales/read.ts";
import { buildApps } from "../../scripts/build-apps.ts";
import { SigningSessionCreated } from "../../server/features/signing/contract.ts";
import { errorCodes } from "../../server/kernel/problem.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { publishAgreement, sendAgreement } from "./agreement.ts";

let app: TestAppliance;

beforeAll(async () => {
  await buildApps();
  app = await startAppliance();
});

afterAll(async () => {
  await app?.stop();
});

/** A request whose path goes out as it is: `fetch` would tidy it up. */
function raw(
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; text: string }> {
  const { hostname, port } = new URL(app.url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const received = Object.entries(response.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]);
        resolve({
          status: response.statusCode ?? 0,
          headers: new Headers(received),
          text: Buffer.concat(chunks).toString("latin1"),
        });
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}

describe("pages", () => {
  test.each(["/sign", "/sign/ses_000000000000000000000000", "/verify", "/view", "/docs", "/"])(
    "%s carries its policy",
    async (path) => {
      const { status, headers, text } = await raw(path);
      expect(status).toBe(200);
      const policy = headers.get("content-security-policy") ?? "";
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
      expect(nonce.length).toBeGreaterThan(20);
      expect(text).toContain(nonce);
      expect(policy).toContain("script-src 'self' 'wasm-unsafe-eval';");
      expect(policy).not.toContain("unsafe-inline");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cache-control")).toBe("no-store");
      // Nothing inline, nothing from elsewhere.
      expect(text).not.toMatch(/<script(?![^>]*\ssrc=)/);
      expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
      const again = await raw(path);
      expect(again.headers.get("content-security-policy")).not.toBe(policy);
    },
  );

  test("a minted session's page may be framed by the origin that the session names, and by no other", async () => {
    const template = await publishAgreement(app);
    const envelope = await sendAgreement(app, template);
    const Recipients = z.object({ recipients: z.array(z.object({ id: z.string(), role: z.string() })) });
    const { recipients } = Recipients.parse((await app.json(`/v1/envelopes/${envelope}`)).body);
    const recipient = recipients.find(({ role }) => role === "Tenant")?.id;
    const minted = await app.json(`/v1/envelopes/${envelope}/sessions`, {
      json: { recipient, embedOrigin: "https://portal.example.com" },
    });
    const session = SigningSessionCreated.parse(minted.body);
    const { headers } = await raw(new URL(session.url).pathname);
    expect(headers.get("content-security-policy")).toContain("frame-ancestors https://portal.example.com");
    expect(headers.get("x-frame-options")).toBeNull();
  });

  test("files are sent compressed and may be kept for ever", async () => {
    const { text } = await raw("/sign");
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(text)?.[1] ?? "";
    for (const [accepted, encoding] of [
      ["gzip, br", "br"],
      ["gzip;q=1, br;q=0", "gzip"],
      ["identity", null],
    ] as const) {
      const { status, headers } = await raw(script, { "accept-encoding": accepted });
      expect(status).toBe(200);
      expect(headers.get("content-encoding")).toBe(encoding);
      expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
      expect(headers.get("content-type")).toBe("text/javascript; charset=utf-8");
      expect(headers.get("vary")).toContain("accept-encoding");
    }
  });

  test("words are sent in one language, complete, and kept for as long as they are the same", async () => {
    const { text } = await raw("/verify");
    const [, languages = ""] = /data-languages="([^"]+)"/.exec(text) ?? [];
    const [, version = ""] = /data-words="([\w-]{12})"/.exec(text) ?? [];
    expect(languages.split(" ")).toEqual(locales().languages);
    const kept = await raw(`/locales/de/verify.json?v=${version}`);
    expect(kept.headers.get("content-type")).toBe("application/json");
    expect(kept.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(JSON.parse(Buffer.from(kept.text, "latin1").toString("utf8"))).toEqual(locales().words("de", "verify"));
    for (const address of ["/locales/de/verify.json", "/locales/de/verify.json?v=earlier"]) {
      const fresh = await raw(address);
      expect(fresh.headers.get("cache-control")).toBe("no-cache");
      expect(fresh.text).toBe(kept.text);
    }
    const etag = kept.headers.get("etag") ?? "";
    for (const held of [etag, `W/${etag}`, `"other", W/${etag}`]) {
      const known = await raw("/locales/de/verify.json", { "if-none-match": held });
      expect([known.status, known.text, known.headers.get("content-length")]).toEqual([304, "", null]);
    }
    expect((await raw("/locales/de/verify.json", { "if-none-match": 'W/"other"' })).status).toBe(200);
    const small = await raw("/locales/de/verify.json", { "accept-encoding": "gzip, br" });
    expect(small.headers.get("content-encoding")).toBe("br");
    expect(small.text.length).toBeLessThan(kept.text.length / 2);
    for (const [path, accept] of [
      ["/locales/fr/verify.json", "text/html"],
      ["/locales/de/nothing.json", "*/*"],
      ["/locales/de/constructor.json", "*/*"],
      ["/locales/../package.json", "*/*"],
      ["/locales/read.ts", "*/*"],
    ] as const)
      expect((await raw(path, { accept })).status, path).toBe(404);
  });

  test.each([
    "/locales/de/..%2f..%2f..%2fpackage.json",
    "/assets/../../package.json",
    "/assets/..%2f..%2fpackage.json",
    "/assets/%2e%2e/sign/index.html",
    "/assets/..\\..\\package.json",
    "/assets//etc/passwd",
    "/assets/",
    "/sign/../../../etc/passwd",
    "/errors/..%2f..%2fpackage.json",
    "/errors/constructor",
    "/assets/%00",
  ])("%s leads nowhere", async (path) => {
    const { status, text } = await raw(path);
    expect([400, 404]).toContain(status);
    expect(text).not.toContain("devDependencies");
    expect(text).not.toContain("root:");
  });

  test("an unknown address helps people and answers programs", async () => {
    const people = await raw("/nowhere", { accept: "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8" });
    expect(people.status).toBe(404);
    expect(people.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(people.text).toContain("There is nothing at this address");
    for (const [path, accept] of [
      ["/nowhere", "application/json"],
      ["/nowhere", "*/*"],
      ["/v1/nowhere", "text/html"],
      ["/auth/nowhere", "text/html"],
      ["/assets/nowhere.js", "text/html"],
      ["/settings/account/deeper/still", "*/*"],
      ["/envelopes/..%2fsign", "*/*"],
    ] as const) {
      const { status, headers, text } = await raw(path, { accept });
      expect(status, path).toBe(404);
      expect(headers.get("content-type"), path).toContain("application/problem+json");
      expect(text, path).toContain("not-found");
    }
  });

  test("every error code has its help page", async () => {
    for (const code of errorCodes) {
      const { status, text } = await raw(`/errors/${code}`);
      expect(status).toBe(200);
      expect(text).toContain(`<code>${code}</code>`);
    }
  });
});
