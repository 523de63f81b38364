import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { confirmSignUp, getSignInOptions, signUp } from "../../../../../server/features/sign-in/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";
import { AccessCard } from "./AccessCard.tsx";
import { AccessForm } from "./AccessForm.tsx";
import { CodeForm } from "./CodeForm.tsx";
import { checked } from "./checks.ts";
import { EmailField, NameField, NewPasswordField } from "./PersonFields.tsx";
import { useEnter } from "./useEnter.ts";
import { useFields } from "./useFields.ts";

const t = translator("access");

type Asked = { email: string; password: string; name: string; locale: string };

/** An account of one's own, where the appliance allows that; else what to do instead. */
export function SignUpPage() {
  const options = useEndpoint(getSignInOptions, {});
  const [asked, setAsked] = useState<Asked | null>(null);
  const enter = useEnter();
  if (asked) {
    return (
      <AccessCard title={t("code.title")} lead={t("signUp.sent", { email: asked.email })}>
        <CodeForm
          action={t("signUp.confirm")}
          onCode={async (code) => enter(await callEndpoint(confirmSignUp, { body: { email: asked.email, code } }))}
          onResend={async () => {
            await callEndpoint(signUp, { body: asked });
          }}
        />
      </AccessCard>
    );
  }
  if (options.isPending) {
    return (
      <AccessCard title={t("signUp.title")}>
        <Loading rows={4} />
      </AccessCard>
    );
  }
  const mode = options.data?.signUp ?? "open";
  if (mode === "invited") {
    return (
      <AccessCard title={t("signUp.title")} lead={t("signUp.invited")}>
        <p>{t("signUp.invitedHow")}</p>
        <Button component={Link} to="/sign-in" variant="default" fullWidth>
          {t("toSignIn")}
        </Button>
      </AccessCard>
    );
  }
  return (
    <AccessCard title={t("signUp.title")} {...(mode === "domains" ? { lead: t("signUp.domains") } : {})}>
      <SignUpForm onAsked={setAsked} />
      <p className="access-quiet access-other">
        {t("signUp.haveAccount")} <Link to="/sign-in">{t("signIn.action")}</Link>
      </p>
    </AccessCard>
  );
}

function SignUpForm({ onAsked }: { onAsked: (asked: Asked) => void }) {
  const fields = useFields(
    { name: "", email: "", password: "" },
    {
      check: checked({ name: "name", email: "email", password: "newPassword" }),
      submit: async ({ name, email, password }) => {
        const asked = { name: name.trim(), email: email.trim(), password, locale: pageLanguage() };
        await callEndpoint(signUp, { body: asked });
        onAsked(asked);
      },
    },
  );
  return (
    <AccessForm fields={fields} action={t("signUp.action")}>
      <NameField {...fields.bind("name")} />
      <EmailField {...fields.bind("email")} />
      <NewPasswordField {...fields.bind("password")} />
    </AccessForm>
  );
}
