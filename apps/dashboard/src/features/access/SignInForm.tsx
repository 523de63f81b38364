import { Button, Divider } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import type { DashboardSession } from "../../../../../server/features/identity/session-contract.ts";
import {
  requestMagicLink,
  requestSignInCode,
  signInWithCode,
  signInWithPassword,
} from "../../../../../server/features/sign-in/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { Fingerprint, Mail, Pages } from "../../../../shared/ui/icons.tsx";
import { AccessFailure } from "./AccessFailure.tsx";
import { CodeForm } from "./CodeForm.tsx";
import { checked } from "./checks.ts";
import { Password } from "./Password.tsx";
import { EmailField } from "./PersonFields.tsx";
import {
  addressIsDomain,
  localName,
  passkeysHere,
  signInByPasskey,
  stopWaitingForPasskey,
  wasCancelled,
} from "./passkey.ts";
import { useFields } from "./useFields.ts";

const t = translator("access");

export type SignInStep = { name: "start" } | { name: "code"; email: string } | { name: "link"; email: string };

type Props = {
  step: SignInStep;
  onStep: (step: SignInStep) => void;
  onSignedIn: (session: DashboardSession) => void;
  /** The address is known already and cannot be changed. */
  email?: string;
  /** Where a mailed link leads on to; without it no link is offered. */
  returnTo?: string;
  /** Whether a password can be entered; true when that is not known. */
  withPassword?: boolean;
  /** Further ways, below the others. */
  children?: ReactNode;
};

/** Password first; then a code or a link by e-mail, or a passkey. */
export function SignInForm({ step, onStep, onSignedIn, email, returnTo, withPassword = true, children }: Props) {
  const locale = pageLanguage();
  const sendCode = async (address: string) => {
    await callEndpoint(requestSignInCode, { body: { email: address, locale } });
    onStep({ name: "code", email: address });
  };
  const fields = useFields(
    { email: email ?? "", password: "" },
    {
      check: checked({ email: "email", password: withPassword ? "password" : null }),
      submit: async ({ email: address, password }) => {
        if (!withPassword) return await sendCode(address.trim());
        onSignedIn(await callEndpoint(signInWithPassword, { body: { email: address.trim(), password } }));
      },
    },
  );
  const [passkey, setPasskey] = useState<{ busy: boolean; error: unknown }>({ busy: false, error: null });

  const { fixed, autofill } = { fixed: email !== undefined, autofill: email === undefined && step.name === "start" };
  useEffect(() => {
    if (!autofill || !passkeysHere() || !addressIsDomain()) return;
    let gone = false;
    signInByPasskey(true).then(
      (session) => {
        if (session && !gone) onSignedIn(session);
      },
      // Nobody asked for it: the other ways are there.
      () => {},
    );
    return () => {
      gone = true;
      void stopWaitingForPasskey();
    };
  }, [autofill, onSignedIn]);

  const local = localName();
  const byPasskey = async () => {
    setPasskey({ busy: true, error: null });
    try {
      const session = await signInByPasskey(false);
      if (session) onSignedIn(session);
      setPasskey({ busy: false, error: null });
    } catch (error) {
      setPasskey({ busy: false, error: wasCancelled(error) ? null : error });
    }
  };

  if (step.name === "code") {
    const address = step.email;
    return (
      <>
        <p className="access-lead">{t("code.sent", { email: address })}</p>
        <CodeForm
          action={t("signIn.action")}
          onCode={async (code) => onSignedIn(await callEndpoint(signInWithCode, { body: { email: address, code } }))}
          onResend={async () => {
            await callEndpoint(requestSignInCode, { body: { email: address, locale } });
          }}
        />
        <OtherWay onClick={() => onStep({ name: "start" })} />
      </>
    );
  }
  if (step.name === "link") {
    return (
      <>
        <p className="access-lead">{t("link.sent", { email: step.email })}</p>
        <p className="access-quiet">{t("link.hint")}</p>
        <OtherWay onClick={() => onStep({ name: "start" })} />
      </>
    );
  }
  return (
    <>
      <form ref={fields.form} className="access-form" onSubmit={fields.onSubmit} noValidate>
        <AccessFailure
          error={fields.failure ?? passkey.error}
          {...(passkey.error && !fields.failure ? { words: t("failure.passkey") } : {})}
        />
        <EmailField
          {...fields.bind("email")}
          autoComplete={fixed ? "username" : "username webauthn"}
          readOnly={fixed}
        />
        {withPassword && (
          <div className="password-with-link">
            <Password {...fields.bind("password")} kind="current-password" label={t("password")} />
            {!fixed && <Link to="/password/forgot">{t("signIn.forgot")}</Link>}
          </div>
        )}
        <Button type="submit" size="md" fullWidth loading={fields.pending}>
          {withPassword ? t("signIn.action") : t("signIn.code")}
        </Button>
      </form>
      <Divider label={t("signIn.or")} my="lg" />
      <div className="access-ways">
        {withPassword && (
          <Button
            variant="default"
            leftSection={<Mail size={18} />}
            onClick={() => fields.also("email", ({ email: address }) => sendCode(address.trim()))}
          >
            {t("signIn.code")}
          </Button>
        )}
        {returnTo !== undefined && (
          <Button
            variant="default"
            leftSection={<Pages size={18} />}
            onClick={() =>
              fields.also("email", async (values) => {
                const address = values.email.trim();
                await callEndpoint(requestMagicLink, { body: { email: address, locale, returnTo } });
                onStep({ name: "link", email: address });
              })
            }
          >
            {t("signIn.link")}
          </Button>
        )}
        {passkeysHere() && !addressIsDomain() && (
          <p className="soft">
            {local === null ? t("signIn.passkeyNeedsDomain") : t("signIn.passkeyNeedsName", { address: local })}
          </p>
        )}
        {passkeysHere() && addressIsDomain() && (
          <Button
            variant="default"
            leftSection={<Fingerprint size={18} />}
            loading={passkey.busy}
            onClick={() => void byPasskey()}
          >
            {t("signIn.passkey")}
          </Button>
        )}
        {children}
      </div>
    </>
  );
}

function OtherWay({ onClick }: { onClick: () => void }) {
  return (
    <p className="access-quiet">
      <button type="button" className="plain" onClick={onClick}>
        {t("otherWay")}
      </button>
    </p>
  );
}
