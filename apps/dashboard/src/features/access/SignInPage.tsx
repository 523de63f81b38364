import { Button } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import type { DashboardSession } from "../../../../../server/features/identity/session-contract.ts";
import { getSignInOptions } from "../../../../../server/features/sign-in/contract.ts";
import type { SocialProvider } from "../../../../../server/features/sign-in/social/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { AccessCard } from "./AccessCard.tsx";
import { localPath } from "./local-path.ts";
import { ProviderMark, providerName } from "./ProviderMark.tsx";
import { problemText } from "./problems.ts";
import { SignInForm, type SignInStep } from "./SignInForm.tsx";
import { useEnter } from "./useEnter.ts";

const t = translator("access");
const route = getRouteApi("/access/sign-in");

/** The way in for whoever has an account. */
export function SignInPage() {
  const search = route.useSearch();
  const returnTo = localPath(search.returnTo);
  const options = useEndpoint(getSignInOptions, {});
  const [step, setStep] = useState<SignInStep>({ name: "start" });
  const enter = useEnter();
  const onSignedIn = useCallback((session: DashboardSession) => enter(session, returnTo), [enter, returnTo]);
  const problem = step.name === "start" ? problemText(search.problem) : null;
  const titles = { start: t("signIn.title"), code: t("code.title"), link: t("link.title") };
  return (
    <AccessCard title={titles[step.name]}>
      {problem && (
        <div className="notice bad" role="alert">
          {problem}
        </div>
      )}
      {search.returnTo !== undefined && step.name === "start" && !problem && (
        <p className="access-lead">{t("signIn.toGoOn")}</p>
      )}
      <SignInForm step={step} onStep={setStep} onSignedIn={onSignedIn} returnTo={returnTo}>
        {options.data?.social.map((provider) => (
          <SocialButton key={provider} provider={provider} returnTo={returnTo} />
        ))}
      </SignInForm>
      {step.name === "start" && options.isFetched && (
        <p className="access-quiet access-other">
          {options.data?.firstOwner ? (
            t("signIn.firstOwner")
          ) : (
            <>
              {t("signIn.noAccount")}{" "}
              <Link to="/sign-up">{options.data?.signUp === "invited" ? t("signIn.howTo") : t("signIn.signUp")}</Link>
            </>
          )}
        </p>
      )}
    </AccessCard>
  );
}

function SocialButton({ provider, returnTo }: { provider: SocialProvider; returnTo: string }) {
  return (
    <Button
      component="a"
      href={`/auth/social/${provider}/start?${new URLSearchParams({ returnTo })}`}
      variant="default"
      leftSection={<ProviderMark provider={provider} />}
    >
      {t("signIn.with", { provider: providerName(provider) })}
    </Button>
  );
}
