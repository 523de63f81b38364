import { useSearch } from "@tanstack/react-router";
import { useRef } from "react";
import { type SocialProblem, socialProblems } from "../../../../../server/features/sign-in/social/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { useKeptFocus } from "../../../../shared/ui/kit/useKeptFocus.ts";
import { Passkeys } from "./Passkeys.tsx";
import { PasswordSection } from "./PasswordSection.tsx";
import { Profile } from "./Profile.tsx";
import { SavedSignature } from "./SavedSignature.tsx";
import { Sessions } from "./Sessions.tsx";
import { Social } from "./Social.tsx";
import { StartingOrganization } from "./StartingOrganization.tsx";
import "./account.css";

const isSocial = (problem: string): problem is SocialProblem => socialProblems.some((known) => known === problem);

/** The person's own account: who they are, how they sign in, and where they are signed in. */
export function AccountPage() {
  const t = translator("settings");
  const { problem } = useSearch({ strict: false });
  // A row that was removed takes the focus along.
  const page = useRef<HTMLDivElement>(null);
  useKeptFocus(page);
  return (
    <div ref={page}>
      <PageHeader title={t("account.title")} description={t("account.description")} />
      {problem !== undefined && (
        <div className="notice bad" role="alert">
          {t(isSocial(problem) ? `account.problem.${problem}` : "account.problem.unknown")}
        </div>
      )}
      <Profile />
      <SavedSignature />
      <StartingOrganization />
      <PasswordSection />
      <Passkeys />
      <Social />
      <Sessions />
    </div>
  );
}
