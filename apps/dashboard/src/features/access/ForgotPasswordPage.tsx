import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { forgotPassword } from "../../../../../server/features/sign-in/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { AccessCard } from "./AccessCard.tsx";
import { AccessForm } from "./AccessForm.tsx";
import { checked } from "./checks.ts";
import { EmailField } from "./PersonFields.tsx";
import { useFields } from "./useFields.ts";

const t = translator("access");

/** Asks for a link with which a new password can be chosen. */
export function ForgotPasswordPage() {
  const [asked, setAsked] = useState<string | null>(null);
  const fields = useFields(
    { email: "" },
    {
      check: checked({ email: "email" }),
      submit: async ({ email }) => {
        const address = email.trim();
        await callEndpoint(forgotPassword, { body: { email: address, locale: pageLanguage() } });
        setAsked(address);
      },
    },
  );
  const back = (
    <p className="access-quiet access-other">
      <Link to="/sign-in">{t("toSignIn")}</Link>
    </p>
  );
  if (asked !== null) {
    return (
      <AccessCard title={t("link.title")} lead={t("forgot.sent", { email: asked })}>
        <p className="access-quiet">{t("forgot.hint")}</p>
        {back}
      </AccessCard>
    );
  }
  return (
    <AccessCard title={t("forgot.title")} lead={t("forgot.lead")}>
      <AccessForm fields={fields} action={t("forgot.action")}>
        <EmailField {...fields.bind("email")} />
      </AccessForm>
      {back}
    </AccessCard>
  );
}
