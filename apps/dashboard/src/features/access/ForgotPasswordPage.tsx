import { Button, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { forgotPassword } from "../../../../../server/features/sign-in/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { AccessCard } from "./AccessCard.tsx";
import { AccessFailure } from "./AccessFailure.tsx";
import { checked } from "./checks.ts";
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
      <form ref={fields.form} className="access-form" onSubmit={fields.onSubmit} noValidate>
        <AccessFailure error={fields.failure} />
        <TextInput
          {...fields.bind("email")}
          type="email"
          label={t("email")}
          autoComplete="username"
          inputMode="email"
          autoCapitalize="none"
          spellCheck={false}
          size="md"
          required
          withAsterisk={false}
        />
        <Button type="submit" size="md" fullWidth loading={fields.pending}>
          {t("forgot.action")}
        </Button>
      </form>
      {back}
    </AccessCard>
  );
}
