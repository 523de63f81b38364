import { createHash } from "node:crypto";
import { z } from "zod";
import { anchorNow } from "../../server/features/evidence/anchors/signing.ts";
import type { Pins } from "../../server/features/evidence/bundle/check.ts";
import { pemsIn } from "../../server/features/evidence/bundle/read.ts";
import { AnchorKeys } from "../../server/features/keys/contract.ts";
import type { TestAppliance } from "./appliance.ts";
import { png } from "./pictures.ts";
import { enter, ok, send, submission } from "./scenario.ts";

type Movable = { advance(ms: number): void };

/** Sent, signed by both people, the first with an attachment, sealed and anchored. @returns the envelope's id */
export async function sealedEnvelope(app: TestAppliance, clock: Movable, template: string): Promise<string> {
  const { id } = await send(app, template);
  for (const email of ["ada@example.com", "ben@example.com"]) {
    clock.advance(60_000);
    const bearer = await enter(app, email);
    const key = { bearer };
    const body = await submission(app, bearer);
    if (email === "ada@example.com") {
      const form = new FormData();
      form.set("field", "card");
      form.set("file", new Blob([Uint8Array.from(png(40, 40))], { type: "image/png" }), "passport.png");
      const added = await ok(app, 201, "/v1/signing/attachments", { key, body: form });
      const card = [z.object({ id: z.string() }).parse(added.body).id];
      const fields = z.record(z.string(), z.unknown()).parse(body.fields);
      await ok(app, 200, "/v1/signing/submit", { key, json: { ...body, fields: { ...fields, card } } });
    } else await ok(app, 200, "/v1/signing/submit", { key, json: body });
    await app.jobs.idle();
  }
  clock.advance(60_000);
  await anchorNow(app.deps);
  return id;
}

/** What the installation publishes: trusted from outside of any bundle. */
export async function pinsFrom(app: TestAppliance): Promise<Pins> {
  const keys = await ok(app, 200, "/.well-known/svc/keys.json", { key: null });
  const prints = async (name: string) => {
    const pem = await (await app.call(`/.well-known/svc/${name}`, { key: null })).text();
    return pemsIn(pem).map((der) => createHash("sha256").update(der).digest("hex"));
  };
  return {
    kids: AnchorKeys.parse(keys.body).keys.map(({ kid }) => kid),
    certificates: await prints("certificates.pem"),
    timestamps: await prints("timestamp-certificates.pem"),
  };
}

/** PEM of both lists, for judges that know but one. */
export async function publishedAuthorities(app: TestAppliance): Promise<string> {
  const lists = ["certificates.pem", "timestamp-certificates.pem"].map(async (name) =>
    (await app.call(`/.well-known/svc/${name}`, { key: null })).text(),
  );
  const texts = (await Promise.all(lists)).join("").split(/(?<=-----END CERTIFICATE-----\n)/);
  return [...new Set(texts)].join("");
}
