import { Button, Group, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { createOrganization } from "../../../../../server/features/organization/people-contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { pageLanguage, translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { mayLeave } from "../../../../shared/ui/kit/useUnsaved.ts";
import { enterSession } from "../../session.tsx";
import { useFields } from "../access/useFields.ts";

const t = translator("shell");
const common = translator("common");

/** Asks for the name of a new organization and goes to work in it. */
export function CreateOrganizationForm({ onCancel, onDone }: { onCancel?: () => void; onDone?: () => void }) {
  const queries = useQueryClient();
  const router = useRouter();
  const fields = useFields(
    { name: "" },
    {
      check: ({ name }) => (name.trim() === "" ? { name: t("organization.nameMissing") } : {}),
      submit: async ({ name }) => {
        // What is open is left first, so that unsaved work can object.
        if (!(await mayLeave())) return;
        await router.navigate({ to: "/", ignoreBlocker: true });
        const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
        const session = await callEndpoint(createOrganization, {
          body: { name: name.trim(), locale: pageLanguage(), timeZone },
        });
        onDone?.();
        enterSession(queries, session);
      },
    },
  );
  return (
    <form ref={fields.form} onSubmit={fields.onSubmit} noValidate>
      {fields.failure !== null && <Failure error={fields.failure} />}
      <TextInput
        {...fields.bind("name")}
        label={t("organization.name")}
        description={t("organization.nameHint")}
        maxLength={200}
        autoComplete="organization"
        data-autofocus
      />
      <Group justify="flex-end" mt="lg">
        {onCancel && (
          <Button variant="default" onClick={onCancel}>
            {common("cancel")}
          </Button>
        )}
        <Button type="submit" loading={fields.pending}>
          {t("organization.createAction")}
        </Button>
      </Group>
    </form>
  );
}
