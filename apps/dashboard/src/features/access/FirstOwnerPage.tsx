import { Button, TextInput } from "@mantine/core";
import { createFirstOwner } from "../../../../../server/features/sign-in/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { AccessCard } from "./AccessCard.tsx";
import { AccessFailure } from "./AccessFailure.tsx";
import { checked } from "./checks.ts";
import { Password } from "./Password.tsx";
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
    <form ref={fields.form} className="access-form" onSubmit={fields.onSubmit} noValidate>
      <AccessFailure error={fields.failure} />
      <TextInput
        {...fields.bind("organization")}
        label={t("firstOwner.organization")}
        description={t("firstOwner.organizationHint")}
        autoComplete="organization"
        size="md"
        required
        withAsterisk={false}
      />
      <TextInput
        {...fields.bind("name")}
        label={t("name")}
        autoComplete="name"
        size="md"
        required
        withAsterisk={false}
      />
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
      <Password
        {...fields.bind("password")}
        kind="new-password"
        label={t("password")}
        description={t("passwordRule")}
      />
      <Button type="submit" size="md" fullWidth loading={fields.pending}>
        {t("firstOwner.action")}
      </Button>
    </form>
  );
}
