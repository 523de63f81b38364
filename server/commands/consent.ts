import { consentTextOf } from "../features/signing/service.ts";
import { AppError, notFound } from "../kernel/errors.ts";
import { type Command, print, UsageError } from "./command.ts";
import { entryOf } from "./list.ts";
import { withDeps } from "./with-deps.ts";

export const consent: Command = {
  ...entryOf("consent"),
  usage: ["signet consent SHA256"],
  async run(context) {
    const [given = "", ...more] = context.positionals;
    const sha256 = given.toLowerCase();
    if (!/^[0-9a-f]{64}$/.test(sha256) || more.length > 0) throw new UsageError("give one SHA-256: 64 hex digits");
    const kept = await withDeps(context, (deps) => consentTextOf(deps.db.read, sha256));
    if (kept === undefined) throw notFound(`A statement with the SHA-256 ${sha256}`);
    if (!kept.whole) {
      const detail = "The stored text was changed: it no longer has this SHA-256. Restore it from a backup.";
      throw new AppError("conflict", { detail });
    }
    print(context, { sha256, text: kept.text }, kept.text);
    return 0;
  },
};
