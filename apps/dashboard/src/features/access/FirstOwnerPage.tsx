import { TextInput } from "@mantine/core";
import { createFirstOwner } from "../../../../../server/features/sign-in/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { AccessCard } from "./AccessCard.tsx";
import { AccessForm } from "./AccessForm.tsx";
import { checked } from "./checks.ts";
import { EmailField, NameField, NewPasswordField } from "./PersonFields.tsx";
import { tokenOf } from "./token.ts";
import { useEnter } from "./useEnter.ts";
import { useFields } from "./useFields.ts";

const t = translator("access");

/** The first page that anybody opens: the organization and its owner, by the one-time link of the first start. */
export function FirstOwnerPage() {
  const token = tokenOf("svcf_");
  if (token === null) {
    return (
      <AccessCard title={t("firstOwner.title")} lead={t("firstOwner.noLink")}>
        <p>
          {t("firstOwner.how")} <code>sudo signet first-link</code>
        </p>
      </AccessCard>
    );
  }
  return (
    <AccessCard title={t("firstOwner.title")} lead={t("firstOwner.lead")}>
      <FirstOwnerForm token={token} />
    </AccessCard>
  );
}

function FirstOwnerForm({ token }: { token: string }) {
  const enter = useEnter();
  const fields = useFields(
    { organization: "", name: "", email: "", password: "" },
    {
      check: checked({ organization: "organization", name: "name", email: "email", password: "newPassword" }),
      submit: async ({ organization, name, email, password }) => {
        const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
        enter(
          await callEndpoint(createFirstOwner, {
            body: {
              token,
              organization: organization.trim(),
              name: name.trim(),
              email: email.trim(),
              password,
              locale: pageLanguage(),
              timeZone,
            },
          }),
        );
      },
    },
  );
  return (
    <AccessForm fields={fields} action={t("firstOwner.action")}>
      <TextInput
        {...fields.bind("organization")}
        label={t("firstOwner.organization")}
        description={t("firstOwner.organizationHint")}
        autoComplete="organization"
        size="md"
        required
        withAsterisk={false}
      />
      <NameField {...fields.bind("name")} />
      <EmailField {...fields.bind("email")} />
      <NewPasswordField {...fields.bind("password")} />
    </AccessForm>
  );
}
