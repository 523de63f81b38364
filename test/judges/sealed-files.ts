import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { anchorNow } from "../../server/features/evidence/anchors/signing.ts";
import { startAppliance, type TestAppliance } from "../harness/appliance.ts";
import { box, enter, envelopeOf, ok, publishTemplate, send, submission } from "../harness/scenario.ts";

export type SealedFiles = { files: string[]; roots: string };

/** Every file sealed by a real appliance through its API, and the certificates of completion of the first ones. */
export async function sealFiles(
  sources: readonly string[],
  about: { folder: string; certificates: number; say: (line: string) => void },
): Promise<SealedFiles> {
  const app = await startAppliance();
  try {
    const files: string[] = [];
    for (const [index, source] of sources.entries()) {
      const id = await sealOne(app, readFileSync(source));
      const name = path.basename(source, ".pdf");
      const keep = async (version: string) => {
        const response = await app.call(`/v1/envelopes/${id}/document?version=${version}`);
        if (response.status !== 200) throw new Error(`${name}: ${version} answered ${response.status}`);
        const file = path.join(about.folder, `${name}-${version}.pdf`);
        writeFileSync(file, Buffer.from(await response.arrayBuffer()));
        files.push(file);
      };
      await keep("sealed");
      if (index < about.certificates) await keep("certificate");
      about.say(`sealed ${index + 1} of ${sources.length}: ${name}`);
    }
    await anchorNow(app.deps);
    const roots = path.join(about.folder, "roots.pem");
    writeFileSync(roots, await (await app.call("/.well-known/svc/certificates.pem", { key: null })).text());
    return { files, roots };
  } finally {
    await app.stop();
  }
}

async function sealOne(app: TestAppliance, pdf: Buffer): Promise<string> {
  const roles = [{ name: "Tenant", order: 1, verification: "none" }];
  const items = [{ id: "sign", role: "Tenant", type: "signature", ...box(1, 120) }];
  const template = await publishTemplate(app, { pdf, roles, items });
  const tenant = { role: "Tenant", name: "Ada Muster", email: "ada@example.com" };
  const { id } = await send(app, template, { envelope: { recipients: [tenant] } });
  const bearer = await enter(app, tenant.email);
  await ok(app, 200, "/v1/signing/submit", { key: { bearer }, json: await submission(app, bearer, { fields: {} }) });
  await app.jobs.idle();
  const { seal, sealLevel } = await envelopeOf(app, id);
  if (seal !== "sealed") throw new Error(`${id}: seal ${seal}, level ${sealLevel}`);
  return id;
}
