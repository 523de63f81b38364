import { createHash, createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { publicKeyOf, thumbprint } from "./public-keys.ts";
import { type KeyDeps, secretContext } from "./signers.ts";
import * as store from "./store.ts";

type KeyProblem = { key: string; part: "certificate" | "private"; message: string };

/** Whether each key is what its row, certificate and private part say. Asks no token: that takes a try of its PIN. */
export async function checkKeys(
  deps: Pick<KeyDeps, "db" | "secrets">,
): Promise<{ keys: number; problems: KeyProblem[] }> {
  const rows = await store.listKeys(deps.db.read);
  const authorities = rows.flatMap(({ purpose, certificate }) =>
    purpose === "ca" && certificate !== null ? [new X509Certificate(Buffer.from(certificate, "base64"))] : [],
  );
  const problems = rows.flatMap((row): KeyProblem[] => {
    const certificate = certificateProblem(row, authorities);
    const own = row.storage === "software" ? privateProblem(deps, row) : null;
    return [
      ...(certificate === null ? [] : [{ key: row.id, part: "certificate" as const, message: certificate }]),
      ...(own === null ? [] : [{ key: row.id, part: "private" as const, message: own }]),
    ];
  });
  return { keys: rows.length, problems };
}

function certificateProblem(row: store.KeyRow, authorities: readonly X509Certificate[]): string | null {
  try {
    const publicKey = publicKeyOf(row);
    if (row.certificate === null) {
      if (row.purpose !== "anchor") return "it has no certificate";
      return thumbprint(publicKey) === row.id ? null : "its name is not the thumbprint of the key";
    }
    const der = Buffer.from(row.certificate, "base64");
    if (createHash("sha256").update(der).digest("hex") !== row.id) return "its name is not the hash of its certificate";
    const certificate = new X509Certificate(der);
    if (!certificate.publicKey.equals(publicKey)) return "its certificate is of another key";
    const chain: string[] = JSON.parse(row.chain);
    const issuers = chain.map((text) => new X509Certificate(Buffer.from(text, "base64")));
    const known = issuers.length > 0 ? issuers.slice(0, 1) : authorities;
    return known.some((one) => certificate.checkIssued(one) && certificate.verify(one.publicKey))
      ? null
      : "no authority that is stored issued its certificate";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function privateProblem(deps: Pick<KeyDeps, "secrets">, row: store.KeyRow): string | null {
  try {
    const key = deps.secrets.open(row.private_key, secretContext(row.id));
    const own = createPublicKey(createPrivateKey({ key, format: "der", type: "pkcs8" }));
    return own.equals(publicKeyOf(row)) ? null : "its private part is of another key";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
