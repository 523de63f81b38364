import type { Tx } from "../../../kernel/db.ts";
import type { Deps } from "../../../kernel/deps.ts";
import { handle, type JobBinding } from "../../../kernel/job-runner.ts";
import type { TlsKeeper } from "../keeper.ts";
import { enqueueStep, resumeAcme } from "./acts.ts";
import { forgetChallenges } from "./challenges.ts";
import { acmeStep, resumeAcmeWork } from "./jobs.ts";
import { findAcme } from "./store.ts";
import { AcmeReplaced, stepAcme } from "./work.ts";

/** @param tls what the running server shows to its clients */
export function createAcmeHandlers(deps: Deps, tls: TlsKeeper): JobBinding[] {
  return [
    handle(resumeAcmeWork, async () => (tx) => resumeAcme(tx)),
    handle(acmeStep, async (_payload, { signal }) => {
      const acme = await findAcme(deps.db.read);
      if (!acme) return undefined;
      if (acme.progress.nextAt <= deps.clock.now()) {
        try {
          await stepAcme({ ...deps, tls }, acme, signal);
        } catch (error) {
          if (!(error instanceof AcmeReplaced)) throw error;
          forgetChallenges(tls.challenges);
        }
      }
      return async (tx: Tx) => {
        const next = await findAcme(tx);
        if (next) await enqueueStep(tx, next.progress.nextAt);
      };
    }),
  ];
}
