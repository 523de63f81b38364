import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { resetPassword } from "../../../../../server/features/sign-in/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { AccessCard } from "./AccessCard.tsx";
import { AccessForm } from "./AccessForm.tsx";
import { checked } from "./checks.ts";
import { NewPasswordField } from "./PersonFields.tsx";
import { tokenOf } from "./token.ts";
import { useFields } from "./useFields.ts";

const t = translator("access");

/** A new password by the mailed link. */
export function ResetPasswordPage() {
  const token = tokenOf("svcr_");
  const [done, setDone] = useState(false);
  const fields = useFields(
    { password: "" },
    {
      check: checked({ password: "newPassword" }),
      submit: async ({ password }) => {
        if (token === null) return;
        await callEndpoint(resetPassword, { body: { token, password } });
        setDone(true);
      },
    },
  );
  if (token === null) {
    return (
      <AccessCard title={t("reset.title")} lead={t("reset.noLink")}>
        <Button component={Link} to="/password/forgot" variant="default" fullWidth>
          {t("reset.newLink")}
        </Button>
      </AccessCard>
    );
  }
  if (done) {
    return (
      <AccessCard title={t("reset.doneTitle")} lead={t("reset.done")}>
        <Button component={Link} to="/sign-in" size="md" fullWidth>
          {t("signIn.action")}
        </Button>
      </AccessCard>
    );
  }
  return (
    <AccessCard title={t("reset.title")} lead={t("reset.lead")}>
      <AccessForm fields={fields} action={t("reset.action")}>
        <NewPasswordField {...fields.bind("password")} label={t("reset.password")} />
      </AccessForm>
      <p className="access-quiet access-other">
        <Link to="/password/forgot">{t("reset.newLink")}</Link>
      </p>
    </AccessCard>
  );
}
