import { Button } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import type { z } from "zod";
import type { DashboardSession } from "../../../../../server/features/identity/session-contract.ts";
import {
  acceptInvitation,
  type InvitationView,
  readInvitation,
} from "../../../../../server/features/organization/people-contract.ts";
import { signOut } from "../../../../../server/features/sign-in/contract.ts";
import { callEndpoint, ProblemResponse } from "../../../../shared/api/client.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { dateTime, pageLanguage, translator } from "../../../../shared/i18n.ts";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { leaveSession, sessionQuery } from "../../session.tsx";
import { AccessCard } from "./AccessCard.tsx";
import { AccessFailure } from "./AccessFailure.tsx";
import { AccessForm } from "./AccessForm.tsx";
import { checked } from "./checks.ts";
import { EmailField, NameField, NewPasswordField } from "./PersonFields.tsx";
import { SignInForm, type SignInStep } from "./SignInForm.tsx";
import { tokenOf } from "./token.ts";
import { useEnter } from "./useEnter.ts";
import { useFields } from "./useFields.ts";

const t = translator("access");

type Invitation = z.output<typeof InvitationView>;

/** An invitation to an organization: who invites, and one step to join. */
export function InvitePage() {
  const token = tokenOf("svci_");
  if (token === null) {
    return (
      <AccessCard title={t("invite.title")} lead={t("invite.noLink")}>
        <Button component={Link} to="/sign-in" variant="default" fullWidth>
          {t("toSignIn")}
        </Button>
      </AccessCard>
    );
  }
  return <Look token={token} />;
}

function Look({ token }: { token: string }) {
  const look = useEndpoint(readInvitation, { body: { token } });
  // Nobody being signed in is one of the answers.
  const session = useQuery({ ...sessionQuery, throwOnError: false });
  if (look.isError) {
    const gone = look.error instanceof ProblemResponse && look.error.problem.status === 401;
    return (
      <AccessCard title={t("invite.title")}>
        <AccessFailure error={look.error} {...(gone ? { words: t("invite.gone") } : {})} />
        <Button component={Link} to="/sign-in" variant="default" fullWidth>
          {t("toSignIn")}
        </Button>
      </AccessCard>
    );
  }
  if (!look.data || session.isPending) {
    return (
      <AccessCard title={t("invite.title")}>
        <Loading rows={4} />
      </AccessCard>
    );
  }
  const { organization, invitedBy, role, expiresAt } = look.data;
  return (
    <AccessCard
      title={t("invite.join", { organization })}
      lead={t("invite.lead", { invitedBy, organization, role: t(`role.${role}`) })}
    >
      <p className="access-quiet">{t("invite.until", { at: dateTime(expiresAt) })}</p>
      <Ways token={token} invitation={look.data} session={session.data ?? null} />
    </AccessCard>
  );
}

function Ways({
  token,
  invitation,
  session,
}: {
  token: string;
  invitation: Invitation;
  session: DashboardSession | null;
}) {
  const [signedOut, setSignedOut] = useState(false);
  const queries = useQueryClient();
  const enter = useEnter();
  const join = useCallback(
    async () => enter(await callEndpoint(acceptInvitation, { body: { token } })),
    [enter, token],
  );
  const leave = async () => {
    await callEndpoint(signOut, {});
    leaveSession(queries);
    setSignedOut(true);
  };
  const here = signedOut ? null : session;
  if (here && here.user.email.toLowerCase() === invitation.email.toLowerCase()) {
    return <Join organization={invitation.organization} join={join} />;
  }
  if (here) {
    return (
      <>
        <div className="notice">{t("invite.otherPerson", { here: here.user.email, invited: invitation.email })}</div>
        <Button fullWidth size="md" onClick={() => void leave()}>
          {t("invite.signOut")}
        </Button>
      </>
    );
  }
  return invitation.hasAccount ? (
    <SignInToJoin email={invitation.email} join={join} organization={invitation.organization} />
  ) : (
    <NewPerson token={token} invitation={invitation} />
  );
}

function Join({ organization, join }: { organization: string; join: () => Promise<void> }) {
  const fields = useFields({}, { check: () => ({}), submit: join });
  return <AccessForm fields={fields} action={t("invite.join", { organization })} />;
}

function SignInToJoin({
  email,
  join,
  organization,
}: {
  email: string;
  organization: string;
  join: () => Promise<void>;
}) {
  const [step, setStep] = useState<SignInStep>({ name: "start" });
  const [signedIn, setSignedIn] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const onSignedIn = useCallback(() => {
    setSignedIn(true);
    join().catch(setFailure);
  }, [join]);
  if (signedIn) {
    return failure === null ? (
      <Loading rows={1} />
    ) : (
      <>
        <AccessFailure error={failure} />
        <Join organization={organization} join={join} />
      </>
    );
  }
  return (
    <>
      <p>{t("invite.signIn")}</p>
      <SignInForm step={step} onStep={setStep} email={email} onSignedIn={onSignedIn} />
    </>
  );
}

function NewPerson({ token, invitation }: { token: string; invitation: Invitation }) {
  const enter = useEnter();
  const fields = useFields(
    { name: "", password: "" },
    {
      check: checked({ name: "name", password: "newPassword" }),
      submit: async ({ name, password }) =>
        enter(
          await callEndpoint(acceptInvitation, {
            body: { token, name: name.trim(), password, locale: pageLanguage() },
          }),
        ),
    },
  );
  return (
    <AccessForm fields={fields} action={t("invite.action")} lead={t("invite.create")}>
      <EmailField value={invitation.email} required={false} readOnly />
      <NameField {...fields.bind("name")} />
      <NewPasswordField {...fields.bind("password")} />
    </AccessForm>
  );
}
