import { type SocialProblem, socialProblems } from "../../../../../server/features/sign-in/social/contract.ts";
import { translator } from "../../../../shared/i18n.ts";

const t = translator("access");
const isSocial = (problem: string): problem is SocialProblem => socialProblems.some((known) => known === problem);

/** Why a sign-in that began here came back without one; the address says only a code. */
export function problemText(problem: string | undefined): string | null {
  if (problem === undefined) return null;
  return isSocial(problem) ? t(`problem.${problem}`) : t("problem.unknown");
}
